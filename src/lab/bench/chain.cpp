#include "lab/bench/chain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "device/virtual/observer.h"
#include "lab/data/host_memory.h"
#include "lab/record/record.h"
#include "lab/timing/addition.h"
#include "lab/verify/prepared_call.h"

namespace tessera::lab {
namespace {

// Seeded entries that are checked of each product but the first, if D is too large to be checked in
// full. WHY few: a chain has many products. The first product alone covers every seam of a tile.
constexpr int kEntriesOfALaterLink = 512;

// The matrices of a chain. A is not changed; the products are written to the two D alternately.
struct Matrices {
  HostMatrix a, b, c, x;
  DeviceBuffer on_a, on_b, on_c, on_x, on_d[2];

  Matrices(Device& device, const Problem& problem, const ChainOptions& options)
      : a(drawn(problem.types.a, view_a(problem), options.seed * 4)),
        b(drawn(problem.types.b, view_b(problem), options.seed * 4 + 1)),
        c(drawn(problem.types.c, options.add_before ? MatrixView{} : view_c(problem),
                options.seed * 4 + 2)),
        x(drawn(problem.types.b, options.add_before ? view_b(problem) : MatrixView{},
                options.seed * 4 + 3)),
        on_a(uploaded(device, a)),
        on_b(uploaded(device, b)),
        on_c(uploaded(device, c)),
        on_x(uploaded(device, x)),
        on_d{DeviceBuffer(device, a.total_bytes()), DeviceBuffer(device, a.total_bytes())} {}

  // Returns the operands of link i: the product of link i - 1 is in the place of A.
  Operands link(int i) const {
    const DeviceAddress second = on_x.address() ? on_x.address() : on_b.address();
    return {i == 0 ? on_a.address() : on_d[(i + 1) % 2].address(), second, on_c.address(),
            on_d[i % 2].address()};
  }
  // Returns the second factor of every product of the chain: X if the chain adds, else B.
  const HostMatrix& second() const { return on_x.address() ? x : b; }

 private:
  static HostMatrix drawn(ElementType type, const MatrixView& view, std::uint64_t stream) {
    HostMatrix matrix(type, view, 0);
    fill(matrix, {Fill::kUniform, mix_bits(stream)});
    return matrix;
  }
  static DeviceBuffer uploaded(Device& device, const HostMatrix& matrix) {
    DeviceBuffer buffer(device, matrix.total_bytes());
    if (matrix.total_bytes() == 0) return buffer;
    device.copy_in(buffer.address(), matrix.bytes(), matrix.total_bytes());
    return buffer;
  }
};

// Returns the factor by which uniform entries grow in one link, averaged over all links. The
// entries of a product are about sqrt(n / 3) times those of its first factor. After i additions,
// the entries of X are sqrt(1 + i^2) times those of the initial X.
double growth_of_a_link(const Problem& problem, const ChainOptions& options) {
  double logarithm = 0.5 * std::log2(problem.m / 3.0);
  for (int i = 1; options.add_before && i <= options.length; ++i) {
    logarithm += 0.5 * std::log2(1.0 + static_cast<double>(i) * i) / options.length;
  }
  return logarithm;
}

void refuse_adding_chain(const Problem& problem, const ChainOptions& options) {
  const Types& added = Addition::types();
  if (problem.types != added) {
    throw StatusError(Status::unsupported(
        fmt::format("a chain that adds before it multiplies is of {}, but the kernel is of {}",
                    describe(added), describe(problem.types))));
  }
  if (options.length <= kLongestAddingChain) return;
  throw StatusError(Status::bad_argument(fmt::format(
      "a chain that adds before it multiplies has at most {} products, but {} are asked",
      kLongestAddingChain, options.length)));
}

// Returns the problem of a chain: square matrices without gaps. alpha is a power of two that keeps
// the products as large as A. beta is 1, or 0 if the chain adds to X.
Problem chain_problem(Problem problem, const ChainOptions& options) {
  if (problem.m != problem.n || problem.n != problem.k || problem.m < 1) {
    throw StatusError(Status::bad_argument(
        fmt::format("a chain needs square matrices of at least 1, but m is {}, n is {} and k is {}",
                    problem.m, problem.n, problem.k)));
  }
  const Types& types = problem.types;
  if (types.a != types.d || types.c != types.d) {
    throw StatusError(Status::bad_argument(
        fmt::format("a chain needs A, C and D of one type, but A is {}, C is {} and D is {}",
                    name_of(types.a), name_of(types.c), name_of(types.d))));
  }
  if (options.add_before) refuse_adding_chain(problem, options);
  problem.lda = problem.ldb = problem.ldc = problem.ldd = 0;
  problem.alpha = std::exp2(-std::round(std::max(0.0, growth_of_a_link(problem, options))));
  problem.beta = options.add_before ? 0 : 1;
  return with_default_ld(problem);
}

// The parts of a chain that run on the device.
struct Chain {
  Device& device;
  const PreparedCall& call;
  const Problem& problem;
  Matrices& on;
  const Addition* addition;  // null: none

  void add(const Stop& stop = {}) const {
    if (stop && stop()) throw Stopped();
    if (addition) addition->run(on.on_x.address(), on.on_b.address(), on.b.view().span());
  }
};

// Adds B to the host's X. Returns whether X on the device, to which the chain has added B, has the
// same bits.
bool x_is_right(const Chain& chain, HostMatrix& scratch) {
  add_elements(chain.on.x, chain.on.b);
  chain.device.copy_out(scratch.bytes(), chain.on.on_x.address(), scratch.total_bytes());
  return std::memcmp(scratch.bytes(), chain.on.x.bytes(), scratch.total_bytes()) == 0;
}

// Compares `output`, the product of link i, with a reference that is computed from `input`, the
// first factor of the link. Returns false if `output` is wrong.
bool is_link_right(const Chain& chain, int i, const HostMatrix& input, const HostMatrix& output,
                   const ChainOptions& options, ChainResult& result) {
  ReferenceOptions sample;
  sample.seed = options.seed + i;
  if (i > 0) sample.sample = kEntriesOfALaterLink;
  const Reference reference =
      make_reference(chain.problem, input, chain.on.second(), chain.on.c, sample);
  result.sampled |= reference.sampled;
  const Bound bound = bound_for(chain.problem.types, chain.problem.k, Fill::kUniform);
  const Comparison comparison = compare(output, reference, bound);
  result.max_error_ratio = std::max(result.max_error_ratio, comparison.max_error_ratio);
  if (comparison.ok()) return true;
  result.reason = fmt::format("product {}: {}", i + 1, describe(comparison, chain.problem.types.d));
  return false;
}

// Runs the chain product by product. Compares each product with a reference computed from the
// device's previous product, so that earlier rounding errors do not widen the bound.
void check_links(const Chain& chain, const ChainOptions& options, ChainResult& result) {
  HostMatrix input = chain.on.a.clone();
  HostMatrix output(chain.problem.types.d, view_d(chain.problem), 0);
  take_counts(chain.device);
  for (int i = 0; i < options.length; ++i) {
    chain.add(options.stop);
    chain.call.run(chain.on.link(i), options.stop);
    chain.device.synchronize();
    for (const LaunchCounts& launch : take_counts(chain.device)) {
      result.host_seconds += launch.host_seconds;
    }
    if (chain.addition && !x_is_right(chain, output)) {
      result.reason = fmt::format("addition {}: X is not X + B", i + 1);
      return;
    }
    chain.device.copy_out(output.bytes(), chain.on.on_d[i % 2].address(), output.total_bytes());
    if (!is_link_right(chain, i, input, output, options, result)) return;
    // WHY not swapped: `input` has the strides of A, which differ from D's if op(A) transposes.
    std::copy(output.bytes(), output.bytes() + output.total_bytes(), input.bytes());
  }
  result.correct = true;
}

MeasureOptions measure_options(const ChainOptions& options) {
  MeasureOptions how;
  how.seed = options.seed;
  how.rounds = options.repeats;
  how.idle_ms = options.idle_ms;
  how.warm_ups = 1;
  how.min_calls = 3;
  how.max_calls = 20;
  how.stop = options.stop;
  return how;
}

// Returns the vendor's first usable call (cuBLAS' default if beta is 0) and, if another call is
// faster for a single product, that one too. Calls that read C from D would add another C, so they
// are left out.
std::vector<VendorCall> vendor_calls(const Chain& chain, const ChainOptions& options) {
  std::vector<VendorCall> usable, chosen;
  if (!options.vendor) return usable;
  for (VendorCall& call : options.vendor->calls(chain.problem)) {
    if (call.in_place) continue;
    try {
      call.call(chain.on.link(0));
      chain.device.synchronize();
      usable.push_back(std::move(call));
    } catch (const StatusError&) {
      continue;  // this candidate does not take the problem
    }
  }
  std::vector<Candidate> products;
  for (const VendorCall& call : usable) {
    products.push_back({call.name, [&](std::int64_t) { call.call(chain.on.link(0)); }});
  }
  MeasureOptions how = measure_options(options);
  how.rounds = 1;
  DeviceTimer timer(chain.device);
  const auto samples = measure(timer, products, Mode::kBurst, how);
  std::size_t best = 0;
  for (std::size_t i = 1; i < samples.size(); ++i) {
    if (samples[i].milliseconds.empty() || samples[best].milliseconds.empty()) continue;
    const double ms = summarize(samples[i].milliseconds).median;
    if (ms < summarize(samples[best].milliseconds).median) best = i;
  }
  if (!usable.empty()) chosen.push_back(usable.front());
  if (best != 0) chosen.push_back(usable[best]);
  return chosen;
}

// Returns a whole chain as a candidate to time. `product` enqueues the product of one link.
template <class Product>
Candidate chain_candidate(const std::string& name, const Chain& chain, int length,
                          Product product) {
  return {name, [&chain, length, product](std::int64_t) {
            for (int i = 0; i < length; ++i) {
              chain.add();
              product(chain.on.link(i));
            }
          }};
}

// Times whole chains of ours and of the vendor's alternately. The best median of the vendor's calls
// counts.
void time_chains(const Chain& chain, const ChainOptions& options, ChainResult& result) {
  const std::vector<VendorCall> calls = vendor_calls(chain, options);
  std::vector<Candidate> candidates{chain_candidate(
      result.kernel, chain, options.length, [&](const Operands& link) { chain.call.run(link); })};
  for (const VendorCall& call : calls) {
    candidates.push_back(chain_candidate(call.name, chain, options.length, call.call));
  }
  DeviceTimer timer(chain.device);
  const std::vector<Samples> samples =
      measure(timer, candidates, Mode::kBurst, measure_options(options));
  if (options.stop && options.stop()) throw Stopped();
  result.own_ms = summarize(samples[0].milliseconds);
  for (std::size_t i = 1; i < samples.size(); ++i) {
    const Summary time = summarize(samples[i].milliseconds);
    if (!result.vendor_ms || time.median < result.vendor_ms->median) {
      result.vendor_ms = time;
      result.vendor = samples[i].name;
    }
  }
}

Json summary_json(const std::optional<Summary>& s) {
  if (!s) return nullptr;
  return {{"median", s->median}, {"p5", s->p5}, {"p95", s->p95}, {"n", s->n}};
}

}  // namespace

ChainResult run_chain(Device& device, const KernelChoice& kernel, const Problem& given,
                      const ChainOptions& options) {
  const Problem problem = chain_problem(given, options);
  const PreparedCall call(device, kernel, problem, gemm::Alignment{});
  // Five matrices: A, B, C or X, and the input and output of the link that is checked.
  const double bytes = 5.0 * view_a(problem).span() * size_of(problem.types.d);
  require_host_memory(bytes, fmt::format("a chain of {} x {} matrices", problem.m, problem.m));
  Matrices matrices(device, problem, options);
  std::optional<Addition> addition;
  if (options.add_before) addition.emplace(device);
  const Chain chain{device, call, problem, matrices, addition ? &*addition : nullptr};
  ChainResult result;
  result.kernel = kernel.kernel->name;
  result.config = kernel.variant;
  result.problem = problem;
  result.length = options.length;
  result.add_before = options.add_before;
  try {
    check_links(chain, options, result);
  } catch (const StatusError& error) {
    if (error.status().code != StatusCode::kFailed) throw;
    result.reason = error.what();
    result.max_error_ratio = std::numeric_limits<double>::infinity();
  }
  if (result.correct && device.info().kind == DeviceKind::kCuda) {
    time_chains(chain, options, result);
  }
  return result;
}

Json to_json(const ChainResult& r) {
  const bool on_gpu = r.own_ms.has_value();
  return {{"kernel", r.kernel},
          {"config", r.config},
          {"problem", to_json(r.problem)},
          {"length", r.length},
          {"add_before", r.add_before},
          {"correct", r.correct},
          {"checked", r.sampled ? "sampled" : "full"},
          {"reason", r.reason.empty() ? Json(nullptr) : Json(r.reason)},
          {"max_error_ratio",
           std::isfinite(r.max_error_ratio) ? Json(r.max_error_ratio) : Json(nullptr)},
          {"own_ms", summary_json(r.own_ms)},
          {"vendor", r.vendor.empty() ? Json(nullptr) : Json(r.vendor)},
          {"vendor_ms", summary_json(r.vendor_ms)},
          {"host_seconds", on_gpu ? Json(nullptr) : Json(r.host_seconds)},
          {"command", r.command}};
}

}  // namespace tessera::lab
