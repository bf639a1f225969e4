#include "lab/timing/chain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "device/virtual/observer.h"
#include "lab/data/host_memory.h"
#include "lab/verify/prepared_call.h"

namespace tessera::lab {
namespace {

// The matrices of a chain. A stays as it is; products go to the two D in turn.
struct Matrices {
  HostMatrix a, b, c;
  DeviceBuffer on_a, on_b, on_c, on_d[2];

  Matrices(Device& device, const Problem& problem, std::uint64_t seed)
      : a(drawn(problem.types.a, view_a(problem), seed * 4)),
        b(drawn(problem.types.b, view_b(problem), seed * 4 + 1)),
        c(drawn(problem.types.c, view_c(problem), seed * 4 + 2)),
        on_a(uploaded(device, a)),
        on_b(uploaded(device, b)),
        on_c(uploaded(device, c)),
        on_d{DeviceBuffer(device, c.total_bytes()), DeviceBuffer(device, c.total_bytes())} {}

  // Operands of link i: the last product is where A was.
  Operands link(int i) const {
    return {i == 0 ? on_a.address() : on_d[(i + 1) % 2].address(), on_b.address(), on_c.address(),
            on_d[i % 2].address()};
  }

 private:
  static HostMatrix drawn(ElementType type, const MatrixView& view, std::uint64_t stream) {
    HostMatrix matrix(type, view, 0);
    fill(matrix, {Fill::kUniform, mix_bits(stream)});
    return matrix;
  }
  static DeviceBuffer uploaded(Device& device, const HostMatrix& matrix) {
    DeviceBuffer buffer(device, matrix.total_bytes());
    device.copy_in(buffer.address(), matrix.bytes(), matrix.total_bytes());
    return buffer;
  }
};

// Square, without gaps; alpha keeps the products' size, beta adds C.
Problem chain_problem(Problem problem) {
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
  problem.lda = problem.ldb = problem.ldc = problem.ldd = 0;
  // A product of uniform matrices has entries of about sqrt(n / 3) times those of the first.
  problem.alpha = std::exp2(-std::round(std::log2(std::max(1.0, std::sqrt(problem.m / 3.0)))));
  problem.beta = 1;
  return with_default_ld(problem);
}

// Runs the chain link by link and compares each product with that of its own input, so that
// rounding does not pile up into a bound that would let anything pass.
void check_links(Device& device, const PreparedCall& call, const Problem& problem,
                 const Matrices& on, const ChainOptions& options, ChainResult& result) {
  const Bound bound = bound_for(problem.types, problem.k, Fill::kUniform);
  HostMatrix input = on.a.clone();
  HostMatrix output(problem.types.d, view_d(problem), 0);
  take_counts(device);
  for (int i = 0; i < options.length; ++i) {
    call.run(on.link(i), options.stop);
    device.synchronize();
    for (const LaunchCounts& launch : take_counts(device)) {
      result.host_seconds += launch.host_seconds;
    }
    device.copy_out(output.bytes(), on.on_d[i % 2].address(), output.total_bytes());
    ReferenceOptions sample;
    sample.seed = options.seed + i;
    const Reference reference = make_reference(problem, input, on.b, on.c, sample);
    const Comparison comparison = compare(output, reference, bound);
    result.max_error_ratio = std::max(result.max_error_ratio, comparison.max_error_ratio);
    if (!comparison.ok()) {
      result.reason = fmt::format("product {}: {}", i + 1, describe(comparison, problem.types.d));
      return;
    }
    std::copy(output.bytes(), output.bytes() + output.total_bytes(), input.bytes());
  }
  result.correct = true;
}

Candidate vendor_chain(const VendorCall& call, const std::vector<Operands>& links) {
  return {call.name, [&call, &links](std::int64_t) {
            for (const Operands& link : links) call.call(link);
          }};
}

// The vendor's calls that add a C of their own; those that work in place would lose it.
std::vector<VendorCall> usable_calls(Device& device, Vendor* vendor, const Problem& problem,
                                     const Operands& link) {
  std::vector<VendorCall> usable;
  if (!vendor) return usable;
  for (VendorCall& call : vendor->calls(problem)) {
    if (call.in_place) continue;
    try {
      call.call(link);
      device.synchronize();
      usable.push_back(std::move(call));
    } catch (const StatusError&) {
      continue;  // this candidate does not take the problem
    }
  }
  return usable;
}

// Whole chains of ours and of the vendor's candidates, in turn; the vendor's best median counts.
void time_chains(Device& device, const PreparedCall& call, const Problem& problem,
                 const Matrices& on, const ChainOptions& options, ChainResult& result) {
  std::vector<Operands> links;
  for (int i = 0; i < options.length; ++i) links.push_back(on.link(i));
  const auto calls = usable_calls(device, options.vendor, problem, links.front());
  std::vector<Candidate> candidates{{result.kernel, [&](std::int64_t) {
                                       for (const Operands& link : links) call.run(link);
                                     }}};
  for (const VendorCall& call : calls) candidates.push_back(vendor_chain(call, links));
  MeasureOptions how;
  how.seed = options.seed;
  how.rounds = options.repeats;
  how.idle_ms = options.idle_ms;
  how.warm_ups = 1;
  how.min_calls = 3;
  how.max_calls = 20;
  how.stop = options.stop;
  DeviceTimer timer(device);
  const std::vector<Samples> samples = measure(timer, candidates, Mode::kBurst, how);
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
  const Problem problem = chain_problem(given);
  const PreparedCall call(device, kernel, problem, gemm::Alignment{});
  // A, B, C, and the input and the output of the link that is checked.
  const double bytes = 5.0 * view_a(problem).span() * size_of(problem.types.d);
  require_host_memory(bytes, fmt::format("a chain of {} x {} matrices", problem.m, problem.m));
  const Matrices matrices(device, problem, options.seed);
  ChainResult result;
  result.kernel = kernel.kernel->name;
  result.config = kernel.variant;
  result.size = problem.m;
  result.length = options.length;
  try {
    check_links(device, call, problem, matrices, options, result);
  } catch (const StatusError& error) {
    if (error.status().code != StatusCode::kFailed) throw;
    result.reason = error.what();
    result.max_error_ratio = std::numeric_limits<double>::infinity();
  }
  if (result.correct && device.info().kind == DeviceKind::kCuda) {
    time_chains(device, call, problem, matrices, options, result);
  }
  return result;
}

Json to_json(const ChainResult& r) {
  const bool on_gpu = r.own_ms.has_value();
  return {{"kernel", r.kernel},
          {"config", r.config},
          {"size", r.size},
          {"length", r.length},
          {"correct", r.correct},
          {"reason", r.reason.empty() ? Json(nullptr) : Json(r.reason)},
          {"max_error_ratio",
           std::isfinite(r.max_error_ratio) ? Json(r.max_error_ratio) : Json(nullptr)},
          {"own_ms", summary_json(r.own_ms)},
          {"vendor", r.vendor.empty() ? Json(nullptr) : Json(r.vendor)},
          {"vendor_ms", summary_json(r.vendor_ms)},
          {"host_seconds", on_gpu ? Json(nullptr) : Json(r.host_seconds)}};
}

}  // namespace tessera::lab
