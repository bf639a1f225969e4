#include "gemm/c_api/side.h"

#include <cstdio>

#include "gemm/host/cpu.h"
#include "gemm/host/on_gpu.h"
#include "gemm/rewrites/fold.h"

namespace tessera::gemm::c_api {

ChosenSide choose_side(const tessera_handle_s& owner, const Problem& problem) {
  const HostSide wanted = owner.has_gpu() ? owner.place.host_side : HostSide::kCpu;
  if (wanted == HostSide::kCpu) {
    require(host::check_cpu(problem));
    return {};
  }
  const Status by_gpu = host::check_gpu(problem, *owner.info);
  if (wanted == HostSide::kGpu) {
    require(by_gpu);
    return {.is_gpu = true};
  }
  const Status by_cpu = host::check_cpu(problem);
  if (!by_gpu.ok()) {
    if (!by_cpu.ok()) require(by_gpu);
    return {.is_gpu = false, .refused = by_gpu.message};
  }
  if (!by_cpu.ok()) return {.is_gpu = true, .refused = by_cpu.message};
  const host::Sides us = host::predicted_sides(problem);
  return {.is_gpu = !us.is_cpu_faster(), .us = us};
}

Problem host_problem(const tessera_handle_s& owner, const Problem& problem) {
  const auto one = folded(problem);
  if (!one) return problem;
  const bool fits = !owner.has_gpu() || host::check_gpu(*one, *owner.info).ok() ||
                    !host::check_gpu(problem, *owner.info).ok();
  return fits ? *one : problem;
}

std::string text_of(const ChosenSide& side) {
  const std::string taken = side.is_gpu ? "the GPU" : "the CPU";
  if (!side.refused.empty()) return taken + ", because " + side.refused;
  if (side.us.cpu == 0) return taken + ", as the handle asks";
  char us[2][32];
  std::snprintf(us[0], sizeof us[0], "%.1f us", side.us.cpu);
  std::snprintf(us[1], sizeof us[1], "%.1f us", side.us.gpu);
  return taken + ": by the model the CPU takes " + us[0] + ", and the GPU with its copies " + us[1];
}

}  // namespace tessera::gemm::c_api
