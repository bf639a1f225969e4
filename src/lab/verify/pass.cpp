#include "lab/verify/pass.h"

#include <algorithm>
#include <limits>

#include "base/hash.h"
#include "device/virtual/observer.h"
#include "lab/data/integers.h"
#include "lab/verify/prepared_call.h"

namespace tessera::lab {
namespace {

// Observes the launches of a pass and no others.
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
  for (const gemm::Step& planned : plan.steps) {
    const std::string& entry = planned.launch.entry;
    if (std::find(entries.begin(), entries.end(), entry) == entries.end()) entries.push_back(entry);
  }
  return entries;
}

}  // namespace

Uploaded::Uploaded(Device& device, const HostMatrix& host, bool guarded)
    : device_(device),
      skip_(guarded ? 0 : host.guard_bytes()),
      element_(host.front_bytes() - skip_),
      buffer_(device, host.total_bytes() - 2 * skip_) {
  if (buffer_.bytes()) device_.copy_in(buffer_.address(), host.bytes() + skip_, buffer_.bytes());
}

HostMatrix Uploaded::downloaded(const HostMatrix& like) const {
  HostMatrix host = like.poisoned_like();
  if (buffer_.bytes()) device_.copy_out(host.bytes() + skip_, buffer_.address(), buffer_.bytes());
  return host;
}

Pass::Pass(const Problem& p, const VerifyOptions& o, bool is_exact)
    : problem(p),
      options(o),
      exact(is_exact),
      scale_(vector_of(p.epilogue.scale, scale_type(p.types), kStreamOfScale)),
      bias_(vector_of(p.epilogue.bias, bias_type(p.types), kStreamOfBias)) {
  if (exact) return;
  // The data have so few digits that products are exact. A bound that allows for rounded operands
  // would be too wide and hide errors.
  bound = bound_for(p.types, p.k, o.fill, facts_of(p.types.compute).operand_digits);
  bound_x = bound_after(problem_of_x(p).epilogue, bound, p.types);
  bound = bound_after(p.epilogue, bound, p.types);
}

Problem Pass::problem_of_x(Problem p) {
  p.epilogue.activation = Activation::kIdentity;
  p.epilogue.auxiliary = Auxiliary::kNone;
  p.ldd = p.ldx;
  return p;
}

HostMatrix Pass::vector_of(VectorKind kind, ElementType type, std::uint64_t stream) const {
  HostMatrix vector(type, view_of(kind, problem), kGuardBytes, options.misalign.d);
  if (kind == VectorKind::kNone || vector.view().span() == 0) return vector;
  FillSpec spec = fill_of(stream, 0);
  spec.digits = 0;
  if (exact) {
    spec.density = 1;
    if (stream == kStreamOfScale) spec.limit = std::min(spec.limit, kLargestExactScale);
  }
  fill(vector, spec);
  return vector;
}

void Pass::VectorsOnDevice::add_to(Operands& operands) const {
  const Epilogue& epilogue = pass_.problem.epilogue;
  if (epilogue.scale != VectorKind::kNone) operands.scale = scale_.address();
  if (epilogue.bias != VectorKind::kNone) operands.bias = bias_.address();
}

std::string Pass::VectorsOnDevice::find_change() const {
  const std::string found =
      lab::find_change(scale_.downloaded(pass_.scale_), pass_.scale_, "the scale");
  if (!found.empty()) return found;
  return lab::find_change(bias_.downloaded(pass_.bias_), pass_.bias_, "the bias");
}

std::string Pass::hash_if_wanted(const HostMatrix& d) const {
  if (!options.hashes || exact) return "";
  return hash_of({reinterpret_cast<const std::byte*>(d.bytes()), d.total_bytes()});
}

FillSpec Pass::fill_of(std::uint64_t stream, std::uint64_t product) const {
  FillSpec spec = exact ? exact_integers(problem, options.seed, by_rows())
                        : FillSpec{options.fill, options.seed};
  spec.seed = mix_bits(options.seed * 4 + stream);
  if (product > 0) spec.seed = mix_bits(spec.seed + product);
  spec.digits = stream == kStreamOfC ? 0 : facts_of(problem.types.compute).operand_digits;
  return spec;
}

ReferenceOptions Pass::reference_options() const {
  ReferenceOptions how = options.reference;
  how.exact_data = exact;
  how.own_code_only = how.own_code_only || (options.nans > 0 && !exact);
  how.seed = mix_bits(options.seed);
  return how;
}

void Pass::run(Device& device, const gemm::PlanOptions& how, VerifyResult& result) const {
  Outcome outcome;
  try {
    outcome = run_and_look(device, how);
  } catch (const StatusError& error) {
    if (error.status().code != StatusCode::kFailed) throw;
    if (const auto* fault = dynamic_cast<const LaunchFault*>(&error)) {
      outcome.findings = fault->before();
      outcome.findings.push_back(fault->finding());
    }
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
  result.d_hash = std::move(outcome.d_hash);
  if (!outcome.row) return;  // it has not run
  result.row = outcome.row;
  result.workspace_bytes = outcome.workspace_bytes;
  if (outcome.image.handle != 0) result.image = std::move(outcome.image);
}

void Pass::launch(Device& device, const gemm::PlanOptions& how, const Operands& operands,
                  const gemm::Alignment& alignment, Outcome& outcome) const {
  take_counts(device);
  PreparedCall call(device, *how.kernel, problem, alignment, how);
  outcome.row = &call.plan().row();
  outcome.image = call.image();
  outcome.workspace_bytes = call.workspace_bytes();
  outcome.entries = entries_of(call.plan());
  {
    const Watch watch(device, options.checks);
    call.pack(device, operands);
    call.run(operands, options.stop);
    device.synchronize();
  }
  outcome.counts = take_counts(device);
  outcome.findings = findings_of(outcome.counts);
}

}  // namespace tessera::lab
