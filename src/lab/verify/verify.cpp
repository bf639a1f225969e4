#include "lab/verify/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "lab/data/host_memory.h"
#include "lab/data/integers.h"
#include "lab/verify/prepared_call.h"

namespace tessera::lab {
namespace {

constexpr std::size_t kGuardBytes = 4096;
constexpr std::uint64_t kStreamOfC = 2;  // of seeds

// One matrix on the device, with or without the guards of its host copy.
class Uploaded {
 public:
  Uploaded(Device& device, const HostMatrix& host, bool guarded)
      : device_(device),
        skip_(guarded ? 0 : host.guard_bytes()),
        element_(host.front_bytes() - skip_),
        buffer_(device, host.total_bytes() - 2 * skip_) {
    if (buffer_.bytes()) device_.copy_in(buffer_.address(), host.bytes() + skip_, buffer_.bytes());
  }
  DeviceAddress address() const { return buffer_.address() + element_; }
  void download(HostMatrix& host) const {
    if (buffer_.bytes()) device_.copy_out(host.bytes() + skip_, buffer_.address(), buffer_.bytes());
  }
  HostMatrix downloaded(const HostMatrix& like) const {
    HostMatrix host = like.poisoned_like();
    download(host);
    return host;
  }

 private:
  Device& device_;
  std::size_t skip_, element_;
  DeviceBuffer buffer_;
};

bool reads_operands(const Problem& p) { return p.alpha != 0 && p.k != 0; }

// What came out of one pass on one device.
struct Outcome {
  Comparison comparison;
  std::string reason;
  const KernelRow* row = nullptr;
  LoadedImage image;
  std::int64_t workspace_bytes = 0;
  std::vector<std::string> entries;
  std::vector<LaunchCounts> counts;
  std::vector<vgpu::Finding> findings;
};

// Watches the launches of a pass, and no others.
class Watch {
 public:
  Watch(Device& device, bool checks) : device_(checks ? &device : nullptr) {
    if (device_) observe(*device_, {.checks = true});
  }
  ~Watch() {
    if (device_) observe(*device_, {});
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  Device* device_;
};

std::vector<vgpu::Finding> findings_of(const std::vector<LaunchCounts>& launches) {
  std::vector<vgpu::Finding> findings;
  for (const LaunchCounts& launch : launches) {
    findings.insert(findings.end(), launch.findings.begin(), launch.findings.end());
  }
  return findings;
}

std::vector<std::string> entries_of(const gemm::Plan& plan) {
  std::vector<std::string> entries;
  for (const gemm::PlannedLaunch& planned : plan.launches) {
    const std::string& entry = planned.launch.entry;
    if (std::find(entries.begin(), entries.end(), entry) == entries.end()) entries.push_back(entry);
  }
  return entries;
}

}  // namespace

// One set of inputs with what must come out.
struct VerifyCase::Pass {
  Problem problem;
  VerifyOptions options;
  bool exact;  // integers: equality, else the error bound
  HostMatrix a, b, c;
  Bound bound;  // of the real data; integers must be right
  Reference reference;

  Pass(const Problem& p, const VerifyOptions& o, bool is_exact)
      : problem(p),
        options(o),
        exact(is_exact),
        a(p.types.a, view_a(p), kGuardBytes, o.misalign),
        b(p.types.b, view_b(p), kGuardBytes, o.misalign),
        c(p.types.c, view_c(p), kGuardBytes, o.misalign) {
    if (!exact) bound = bound_for(p.types, p.k, o.fill, operand_digits());
    fill_inputs();
    if (by_rows()) return;
    ReferenceOptions how = options.reference;
    how.exact_data = exact;
    how.own_code_only = how.own_code_only || (options.nans > 0 && !exact);
    how.seed = mix_bits(options.seed);
    reference = make_reference(problem, a, b, c, how);
  }

  // Whole matrices of integers are too big to be recomputed; their rows are not.
  bool by_rows() const {
    return exact && !fits_full_reference(problem, options.reference.full_limit);
  }

  // What must not be read stays poison.
  void fill_inputs() {
    FillSpec spec = exact ? exact_integers(problem, options.seed, by_rows())
                          : FillSpec{options.fill, options.seed};
    const int nans = exact ? 0 : options.nans;
    const auto prepare = [&](HostMatrix& matrix, std::uint64_t stream, int count) {
      spec.seed = mix_bits(options.seed * 4 + stream);
      spec.digits = stream == kStreamOfC ? 0 : operand_digits();
      fill(matrix, spec);
      place(matrix, count, spec.seed);
    };
    if (reads_operands(problem)) {
      prepare(a, 0, nans);
      prepare(b, 1, nans);
    }
    if (problem.beta != 0) prepare(c, kStreamOfC, nans > 0 ? 1 : 0);
  }

  // Data whose products are exact: a bound for operands that the arithmetic rounds hides much.
  int operand_digits() const { return facts_of(problem.types.compute).operand_digits; }

  HostMatrix output_before() const {
    if (options.in_place) return c.clone();
    return HostMatrix(problem.types.d, view_d(problem), kGuardBytes, options.misalign);
  }

  // Why what the device left behind is wrong; empty when it is right.
  std::string judge(const HostMatrix& d, Comparison& comparison) const {
    comparison = by_rows() ? compare_rows_exactly(problem, a, b, c, d, options.seed)
                           : compare(d, reference, bound);
    std::string reason = find_stray_write(d, "D");
    if (reason.empty()) reason = describe(comparison, problem.types.d);
    return reason;
  }

  // Runs the kernel and writes what came out over the last pass; a fault is a failure, too.
  void run(Device& device, const gemm::PlanOptions& how, VerifyResult& result) const {
    Outcome outcome;
    try {
      outcome = run_and_look(device, how);
    } catch (const StatusError& error) {
      if (error.status().code != StatusCode::kFailed) throw;
      outcome.reason = error.status().message;
      outcome.comparison.max_error_ratio = std::numeric_limits<double>::infinity();
    }
    if (outcome.reason.empty() && !outcome.findings.empty()) {
      outcome.reason = outcome.findings.front().message;
    }
    result.findings = std::move(outcome.findings);
    if (!outcome.reason.empty()) {
      result.verified = Verified::kFailed;
      result.reason = (exact ? "integers: " : "") + outcome.reason;
      result.mismatch = outcome.comparison.first;
    }
    result.max_error_ratio = outcome.comparison.max_error_ratio;
    result.counts = std::move(outcome.counts);
    result.entries = std::move(outcome.entries);
    if (!outcome.row) return;  // it has not run
    result.row = outcome.row;
    result.workspace_bytes = outcome.workspace_bytes;
    if (outcome.image.handle != 0) result.image = std::move(outcome.image);
  }

  // Runs the kernel and looks at everything that it could have touched.
  Outcome run_and_look(Device& device, const gemm::PlanOptions& how) const {
    // WHY: without guards the virtual GPU itself stops at the first byte outside an operand; with
    // guards a stray access is seen on any device. So the two passes take turns.
    const bool guarded = device.info().kind == DeviceKind::kCuda || !exact;
    const bool hide_unread = exact;  // null where the contract lets the caller pass null
    const Uploaded on_a(device, a, guarded), on_b(device, b, guarded), on_c(device, c, guarded);
    const HostMatrix before = output_before();
    const Uploaded on_d(device, before, guarded);

    Operands operands{on_a.address(), on_b.address(), on_c.address(), on_d.address()};
    if (hide_unread && !reads_operands(problem)) operands.a = operands.b = 0;
    if (options.in_place)
      operands.c = operands.d;
    else if (hide_unread && problem.beta == 0)
      operands.c = 0;

    Outcome outcome;
    take_counts(device);
    const PreparedCall call(device, *how.kernel, problem, gemm::alignment_of(operands), how);
    outcome.row = &call.plan().row();
    outcome.image = call.image();
    outcome.workspace_bytes = call.workspace_bytes();
    outcome.entries = entries_of(call.plan());
    {
      const Watch watch(device, options.checks);
      call.run(operands, options.stop);
      device.synchronize();
    }
    outcome.counts = take_counts(device);
    outcome.findings = findings_of(outcome.counts);
    for (const auto& [name, host, on_device] :
         {std::tuple{"A", &a, &on_a}, std::tuple{"B", &b, &on_b}, std::tuple{"C", &c, &on_c}}) {
      if (outcome.reason.empty()) {
        outcome.reason = find_change(on_device->downloaded(*host), *host, name);
      }
    }
    const std::string wrong = judge(on_d.downloaded(before), outcome.comparison);
    if (outcome.reason.empty()) outcome.reason = wrong;
    return outcome;
  }
};

namespace {

// The matrices alone: A, B and C for each pass, D before and after. Asked for together, because a
// matrix after the other would be filled for minutes before the last one is refused.
void require_memory(const Problem& problem, int passes) {
  const auto bytes = [](const MatrixView& view, ElementType type) {
    return static_cast<double>(view.span()) * size_of(type);
  };
  const Types& types = problem.types;
  const double inputs = bytes(view_a(problem), types.a) + bytes(view_b(problem), types.b) +
                        bytes(view_c(problem), types.c);
  require_host_memory(passes * inputs + 2 * bytes(view_d(problem), types.d),
                      fmt::format("a {} x {} x {} product", problem.m, problem.n, problem.k));
}

}  // namespace

std::string_view name_of(Verified verified) {
  if (verified == Verified::kFull) return "full";
  return verified == Verified::kSampled ? "sampled" : "failed";
}

VerifyCase::VerifyCase(const Problem& problem, const VerifyOptions& options)
    : problem_(with_default_ld(problem)), options_(options) {
  require(tessera::check(problem_));
  if (options_.in_place && problem_.ldc != problem_.ldd) {
    throw StatusError(Status::bad_argument("ldd is " + std::to_string(problem_.ldd) +
                                           ", but must equal ldc, " + std::to_string(problem_.ldc) +
                                           ", when D is C"));
  }
  if (options_.in_place && problem_.types.c != problem_.types.d) {
    throw StatusError(Status::bad_argument(
        fmt::format("C is {} and D is {}, but both must be of one type when D is C",
                    name_of(problem_.types.c), name_of(problem_.types.d))));
  }
  require_memory(problem_, options_.integers ? 2 : 1);
  if (options_.integers) {
    integers_ = std::make_unique<Pass>(with_exact_scales(problem_), options_, true);
  }
  real_ = std::make_unique<Pass>(problem_, options_, false);
}

VerifyCase::~VerifyCase() = default;

VerifyResult VerifyCase::check(Device& device, const KernelChoice& choice) const {
  return check(device, choice, options_.plan);
}

VerifyResult VerifyCase::check(Device& device, const KernelChoice& choice,
                               gemm::PlanOptions options) const {
  // WHY: what the kernel does not take, or the device cannot load, is said before memory is filled.
  options.kernel = choice;
  const gemm::Plan plan =
      gemm::plan(problem_, gemm::Alignment{}, gemm::limits_of(device.info()), options);
  VerifyResult result;
  result.row = &plan.row();
  result.config = choice.variant;
  result.image = device.load(image_of(*choice.kernel, plan.row().entry));
  result.workspace_bytes = plan.workspace_bytes();
  result.reference = real_->reference.method;
  result.integers = !integers_ ? "none" : integers_->by_rows() ? "every row, modulo 2^64" : "full";
  result.verified = real_->reference.sampled ? Verified::kSampled : Verified::kFull;
  if (integers_) integers_->run(device, options, result);
  if (result.ok()) real_->run(device, options, result);
  for (const LaunchCounts& launch : result.counts) result.host_seconds += launch.host_seconds;
  return result;
}

VerifyResult verify(Device& device, const KernelChoice& choice, const Problem& problem,
                    const VerifyOptions& options) {
  return VerifyCase(problem, options).check(device, choice);
}

}  // namespace tessera::lab
