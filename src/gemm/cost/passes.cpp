#include "gemm/cost/cost.h"

namespace tessera::gemm {

double cost_of_finishing(double bytes, const DeviceLimits& limits) {
  const PassCosts& costs = limits.costs->coefficients.passes;
  return costs.finish_launch + bytes / costs.finish_bytes;
}

double cost_of_repacking(std::int64_t bytes, const DeviceLimits& limits) {
  const PassCosts& costs = limits.costs->coefficients.passes;
  return bytes > 0 ? 2 * static_cast<double>(bytes) / costs.repack_bytes + costs.repack_launch : 0;
}

double after_another(Cost cost, const DeviceLimits& limits) {
  cost.launch = limits.costs->coefficients.passes.early_launch;
  return cost.total();
}

}  // namespace tessera::gemm
