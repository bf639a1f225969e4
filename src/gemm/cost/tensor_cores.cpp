#include <algorithm>
#include <cmath>

#include "gemm/cost/cost.h"

namespace tessera::gemm {
namespace {

double store_of_tensor_cores(const TensorCoreWork& work, double waves, double multiply,
                             const TensorCoreCosts& costs) {
  const double outputs = static_cast<double>(work.block.m) * work.block.n;
  if (!work.copies_d) {
    return waves * outputs / (128 * 128) *
           (work.hides_store ? costs.rows_store_beside : costs.rows_store);
  }
  const double least =
      (costs.tile + costs.tile_store * outputs / 1024 * size_of(work.types->d) / 2) *
      (work.hides_store ? costs.tile_of_pair : 1);
  const double waits = work.per_sm > 1 && work.products > 1 ? waves * costs.short_ring_wait : 0;
  return std::max((work.hides_store ? 1 : waves) * costs.store, waves * least - multiply) + waits;
}

double adding_of_c(const TensorCoreWork& work, const GemmParams& p, const CostTable& table) {
  if (p.beta == 0 || work.parts > 0) return 0;
  const TensorCoreCosts& costs = table.coefficients.wgmma;
  const double bytes = static_cast<double>(p.m) * static_cast<double>(p.n) *
                       static_cast<double>(work.products) * size_of(work.types->d);
  return bytes / (work.hides_store && bytes > table.gpu->l2_kib * 1024.0
                      ? costs.large_c_of_pair_bytes
                      : costs.c_bytes);
}

double repacking_of_tensor_cores(const TensorCoreWork& work, const DeviceLimits& limits) {
  const TensorCoreCosts& costs = limits.costs->coefficients.wgmma;
  const double bytes = static_cast<double>(work.repacked_bytes);
  const bool many = work.hides_store && bytes > costs.many_repacked_bytes &&
                    size_of(work.types->a) == sizeof(float);
  return cost_of_repacking(work.repacked_bytes, limits) +
         (many ? bytes / costs.of_many_repacked : 0);
}

}  // namespace

Cost cost_of_tensor_cores(const TensorCoreWork& work, const GemmParams& p,
                          const DeviceLimits& limits) {
  const double memory_bytes = limits.costs->coefficients.memory_bytes;
  const TensorCoreCosts& costs = limits.costs->coefficients.wgmma;
  const double rate = work.rate > 0 ? work.rate : costs.unknown_rate;  // flop/us * 1e6
  const double m = static_cast<double>(p.m), n = static_cast<double>(p.n);
  const double k = static_cast<double>(p.k);
  const double ctas = static_cast<double>(limits.sms) * work.per_sm;
  const double waves = std::ceil(static_cast<double>(work.tiles) / ctas);
  const double of_tile = 2.0 * work.block.m * work.block.n * work.block.k *
                         static_cast<double>(work.k_tiles) / (rate * 1e6 / ctas);
  const double outputs = m * n * size_of(work.types->d) * (p.beta == 0 ? 1 : 2);
  const double products = static_cast<double>(work.products);
  const double operands = (m + n) * k * size_of(work.types->a) * products;
  const double bytes = operands + costs.write * outputs * products;
  const double partial = m * n * static_cast<double>(work.parts) * sizeof(float);
  const double multiply = waves * of_tile, memory = bytes / memory_bytes;
  const double reads = operands / memory_bytes;
  const double beside = costs.overlap * std::min(multiply, memory) / work.per_sm +
                        (work.per_sm > 1 ? costs.short_ring * reads : 0);
  return {.launch = costs.launch,
          .repack = repacking_of_tensor_cores(work, limits),
          .start = costs.start + beside,
          .multiply = multiply,
          .store = store_of_tensor_cores(work, waves, multiply, costs) +
                   adding_of_c(work, p, *limits.costs),
          .memory = memory,
          .add = work.parts > 0 ? costs.add + partial / costs.reduced_bytes : 0};
}

}  // namespace tessera::gemm
