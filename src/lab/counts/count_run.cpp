#include "lab/counts/count_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "lab/data/fill.h"
#include "lab/verify/prepared_call.h"

namespace tessera::lab {
namespace {

constexpr double kProducts = 1 << 28;      // multiply-adds per run; they take about a second
constexpr std::uint64_t kFewestCtas = 32;  // least number of CTAs in a sample

DeviceBuffer uploaded(Device& device, ElementType type, const MatrixView& view,
                      std::uint64_t seed) {
  HostMatrix host(type, view, 0);
  fill(host, {Fill::kUniform, seed});
  DeviceBuffer buffer(device, host.total_bytes());
  if (buffer.bytes()) device.copy_in(buffer.address(), host.bytes(), host.total_bytes());
  return buffer;
}

using Prepare = std::function<void(const Operands&)>;

struct Sample {
  std::uint64_t seed, ctas;
};

// Ends the observation of the device, whatever happens.
class Watch {
 public:
  Watch(Device& device, const vgpu::Observation& observation) : device_(device) {
    observe(device, observation);
  }
  ~Watch() { observe(device_, {}); }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  Device& device_;
};

CountedRun run_counted(Device& device, const KernelChoice& choice, const Problem& given,
                       const Sample& sample, const gemm::PlanOptions& options,
                       const Prepare& prepare) {
  const Problem problem = with_default_ld(given);
  const std::uint64_t seed = sample.seed;
  require(check(problem));
  const DeviceBuffer a = uploaded(device, problem.types.a, view_a(problem), mix_bits(seed * 4));
  const DeviceBuffer b = uploaded(device, problem.types.b, view_b(problem), mix_bits(seed * 4 + 1));
  const DeviceBuffer c = uploaded(device, problem.types.c, view_c(problem), mix_bits(seed * 4 + 2));
  const DeviceBuffer d(device, view_d(problem).span() * size_of(problem.types.d));
  // The vectors of the epilogue, if it has any.
  const DeviceBuffer scale = uploaded(device, scale_type(problem.types),
                                      view_of(problem.epilogue.scale, problem), mix_bits(seed));
  const DeviceBuffer bias = uploaded(device, bias_type(problem.types),
                                     view_of(problem.epilogue.bias, problem), mix_bits(seed + 1));
  const DeviceBuffer x(device, view_x(problem).span() * size_of(problem.types.d));
  const Operands operands{a.address(),     b.address(),    c.address(), d.address(),
                          scale.address(), bias.address(), x.address()};
  PreparedCall call(device, choice, problem, gemm::alignment_of(operands), options);
  call.pack(device, operands);
  if (call.plan().steps.empty()) {
    throw StatusError(Status::bad_argument(fmt::format(
        "-m is {} and -n is {}, but both must be at least 1 where there is something to count",
        problem.m, problem.n)));
  }
  vgpu::Observation observation;
  observation.memory = true;
  observation.sample_ctas = sample.ctas;
  observation.sample_seed = seed;
  if (prepare) prepare(operands);
  const Watch watch(device, observation);
  take_counts(device);
  call.run(operands);
  device.synchronize();
  CountedRun run{problem, choice.kernel, &call.plan().row(), {}, take_counts(device)};
  for (const gemm::Step& planned : call.plan().steps) {
    run.launches.push_back(planned.launch);
  }
  return run;
}

}  // namespace

TracedRun trace_run(Device& device, const KernelChoice& choice, const Problem& problem,
                    std::uint64_t seed, std::uint64_t sample_ctas, const ChooseTrace& choose) {
  TracedRun traced;
  vgpu::AccessTrace trace;
  const Prepare prepare = [&](const Operands& operands) {
    traced.operands = operands;
    choose(operands, trace);
  };
  const vgpu::Tracing tracing(trace);
  traced.run = run_counted(device, choice, problem, {seed, sample_ctas}, {}, prepare);
  const std::size_t last = traced.run.launches.size() - 1;
  for (const vgpu::TracedAccess& access : trace.accesses()) {
    if (access.launch == last) traced.accesses.push_back(access);
  }
  return traced;
}

CountedRun count_run(Device& device, const KernelChoice& choice, const Problem& problem,
                     std::uint64_t seed, std::uint64_t sample_ctas,
                     const gemm::PlanOptions& options) {
  return run_counted(device, choice, problem, {seed, sample_ctas}, options, {});
}

std::uint64_t sample_for(const KernelChoice& choice, const Problem& problem) {
  const double products = static_cast<double>(problem.m) * static_cast<double>(problem.n) *
                          static_cast<double>(problem.k);
  if (products <= kProducts) return 0;
  const BlockTile block = rows_of(*choice.kernel, choice.variant).front().block;
  const double ctas = static_cast<double>(problem.m) * static_cast<double>(problem.n) /
                      (static_cast<double>(block.m) * block.n);
  return std::max(kFewestCtas, static_cast<std::uint64_t>(ctas * kProducts / products));
}

}  // namespace tessera::lab
