#include "lab/verify/prepared_call.h"

#include <algorithm>
#include <chrono>
#include <vector>

namespace tessera::lab {
namespace {

constexpr int kPlans = 11, kPreparations = 3, kRuns = 5;

gemm::PlanOptions with_kernel(gemm::PlanOptions options, const KernelChoice& choice) {
  options.kernel = choice;
  return options;
}

// Returns microseconds per call, the median of `calls` calls.
template <class Call>
double median_us(int calls, Call call) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> times;
  for (int i = 0; i < calls; ++i) {
    const Clock::time_point begin = Clock::now();
    call();
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
  }
  std::nth_element(times.begin(), times.begin() + calls / 2, times.end());
  return times[static_cast<std::size_t>(calls / 2)];
}

}  // namespace

PreparedCall::PreparedCall(Device& device, const KernelChoice& choice, const Problem& problem,
                           const gemm::Alignment& alignment, gemm::PlanOptions options)
    : problem_(problem),
      options_(with_kernel(std::move(options), choice)),
      prepared_(gemm::prepare(
          device, gemm::plan(problem, alignment, gemm::limits_of(device.info()), options_))),
      workspace_(device, static_cast<std::size_t>(plan().workspace_bytes())) {}

void PreparedCall::pack(Device& device, const Operands& operands) {
  for (const auto& [is_packed, operand] :
       {std::pair{options_.packed.a, OperandId::kA}, std::pair{options_.packed.b, OperandId::kB}}) {
    if (!is_packed) continue;
    const gemm::Packing packing = gemm::packing_of(problem_, operand, plan().limits);
    DeviceBuffer memory(device, static_cast<std::size_t>(std::max<std::int64_t>(1, packing.bytes)));
    gemm::pack(device, device, packing, operand, operands[operand], memory.address());
    packed_.push_back({operands[operand], std::move(memory)});
  }
  device.synchronize();
}

gemm::PackedArgument PreparedCall::packed(bool is_packed, DeviceAddress matrix) const {
  for (const Packed& one : packed_) {
    if (is_packed && one.matrix == matrix) {
      return {one.memory.address(), static_cast<std::int64_t>(one.memory.bytes())};
    }
  }
  return {};
}

gemm::Arguments PreparedCall::arguments(const Operands& operands) const {
  return {operands,
          problem_.alpha,
          problem_.beta,
          workspace_.address(),
          workspace_bytes(),
          packed(options_.packed.a, operands.a),
          packed(options_.packed.b, operands.b)};
}

void PreparedCall::run(const Operands& operands, const Stop& stop) const {
  execute(prepared_, arguments(operands), stop);
}

HostTime PreparedCall::host_time(Device& device, const OperandSets& sets) const {
  HostTime time{.launches = static_cast<int>(prepared_.launches())};
  time.plan =
      median_us(kPlans, [&] { gemm::plan(problem_, plan().alignment, plan().limits, options_); });
  time.prepare = median_us(kPreparations, [&] { gemm::prepare(device, plan()); });
  if (device.info().kind != DeviceKind::kCuda) return time;
  std::int64_t set = kRuns * sets.size() - kRuns;  // so that measuring begins with another one
  time.execute = median_us(kRuns, [&] { gemm::execute(prepared_, arguments(sets[set++])); });
  device.synchronize();
  return time;
}

}  // namespace tessera::lab
