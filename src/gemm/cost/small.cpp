#include <algorithm>
#include <cmath>

#include "gemm/cost/cost.h"

namespace tessera::gemm {
namespace {

double slowdown_of_elements(const SmallWork& work, const SmallCosts& costs) {
  if (work.is_aligned) return 1;
  return work.element_bytes == 2   ? costs.elements_of_2
         : work.element_bytes == 4 ? costs.elements_of_4
                                   : costs.elements_of_8;
}

// The microseconds that a lane waits for its copies of one step of k.
double copies_of_step(const SmallWork& work, const SmallCosts& costs) {
  const int width = work.is_aligned ? 16 : work.element_bytes;
  const double bytes =
      static_cast<double>(work.block.m + work.block.n) * work.block.k * work.element_bytes;
  const double each = width == 16  ? costs.copy_of_16
                      : width == 8 ? costs.copy_of_8
                      : width == 4 ? costs.copy_of_4
                                   : costs.copy_of_2;
  return each * bytes / (width * work.team_threads);
}

}  // namespace

double time_of_blocks(const VectorWork& work, const DeviceLimits& limits) {
  const VectorCosts& costs = limits.costs->coefficients.vector;
  const double access = work.access_bytes == 16  ? 1
                        : work.access_bytes == 8 ? costs.loads_of_8
                        : work.access_bytes == 4 ? costs.loads_of_4
                                                 : costs.loads_of_2;
  const double more = !work.on_tensor_cores     ? costs.more_vectors * (work.at_once - 1)
                      : work.at_once > 8        ? costs.sixteen_vectors
                      : work.element_bytes == 4 ? costs.rounded_vectors
                                                : 0;
  const double blocks = static_cast<double>(work.blocks);
  const double bytes = static_cast<double>(work.outputs) * static_cast<double>(work.k) *
                       static_cast<double>(work.passes) * work.element_bytes;
  const double slots = static_cast<double>(limits.sms) * work.ctas;
  // A last wave of few blocks has too few loads in flight for full speed.
  const auto time_of = [&](double some) {
    if (some == 0) return 0.0;
    const double rate = std::min(costs.bytes, some * work.bytes_ahead / costs.latency);
    return bytes * some / blocks * access * (1 + more) / rate;
  };
  const double whole_waves = std::floor(blocks / slots) * slots;
  return costs.wave * std::ceil(blocks / slots) + time_of(whole_waves) +
         time_of(blocks - whole_waves);
}

Cost cost_of_vectors(const VectorWork& work, const DeviceLimits& limits) {
  const VectorCosts& costs = limits.costs->coefficients.vector;
  const double outputs = static_cast<double>(work.outputs), k = static_cast<double>(work.k);
  const double elements = outputs * k * static_cast<double>(work.passes) +
                          (outputs + k) * static_cast<double>(work.vectors);
  return {.launch = costs.launch,
          .start = costs.start,
          .multiply = time_of_blocks(work, limits),
          .store = costs.store,
          .memory = elements * work.element_bytes / limits.costs->coefficients.memory_bytes};
}

// HW: measured on H100 and H200, matrices of 131072 x 4096. If L2 holds all lines of the matrix,
// repeated reads come from L2.
Cost cost_of_mixed(const MixedWork& work, const DeviceLimits& limits) {
  constexpr double kCluster = 3.0, kByElements = 6, kRowsByElements = 1.5;  // us, then factors
  constexpr double kL2 = 1.6, kLines = 0.87;  // times the speed of device memory
  constexpr double kUnknown = 50;             // TFLOP/s
  const Coefficients& costs = limits.costs->coefficients;
  const double lines = static_cast<double>(work.lines), rows = static_cast<double>(work.rows);
  const double k = static_cast<double>(work.k), products = static_cast<double>(work.products);
  const double passes = std::ceil(rows / work.rows_of_cta);
  const double narrow = 2 * lines * k * products;
  const double memory = (narrow + 4 * (rows * k + lines * rows) * products) / costs.memory_bytes;
  const bool fits_l2 = narrow < static_cast<double>(limits.l2_bytes);
  const double again =
      narrow * std::max(fits_l2 ? passes / kL2 : passes / kLines, 1 / kLines) / costs.memory_bytes;
  const double rate = work.rate > 0 ? work.rate : kUnknown;
  const double multiply = 2 * lines * passes * work.rows_of_cta * k * products / (rate * 1e6);
  const double busy =
      std::min(1.0, static_cast<double>(work.warps) / (work.warps_to_fill * limits.sms));
  const double slower =
      work.is_by_elements ? kByElements : (work.has_whole_rows ? 1 : kRowsByElements);
  return {.launch = costs.vector.launch,
          .start = costs.vector.start,
          .multiply = std::max(again, multiply) / busy * slower,
          .store = costs.vector.store + (work.is_in_clusters ? kCluster : 0),
          .memory = memory};
}

Cost cost_of_small(const SmallWork& work, const GemmParams& p, const DeviceLimits& limits) {
  const SmallCosts& costs = limits.costs->coefficients.small;
  const double rate =
      work.rate > 0 ? work.rate : costs.unknown_share * limits.costs->gpu->fp32_peak();
  const auto whole = [](long long extent, int block) {
    return static_cast<double>(ceil_div(extent, block));
  };
  const double tiles =
      whole(p.m, work.block.m) * whole(p.n, work.block.n) * static_cast<double>(work.products);
  const double of_sm = std::ceil(tiles / limits.sms);  // tiles of the SM with the most tiles
  const double outputs = static_cast<double>(work.block.m) * work.block.n;
  const double depth = whole(p.k, work.block.k) * work.block.k;
  // A team waits for memory in each step, even if the other teams of its SM have no work.
  const double waits = std::ceil(of_sm / work.teams) * depth / work.block.k *
                       (costs.step + copies_of_step(work, costs));
  const double multiply = std::max(of_sm * 2 * outputs * depth / (rate * 1e6 / limits.sms), waits) *
                          slowdown_of_elements(work, costs);
  const double store = of_sm * outputs * (work.d_bytes == 2 ? costs.halves_store : costs.store);
  const double m = static_cast<double>(p.m), n = static_cast<double>(p.n);
  const double bytes = ((m + n) * static_cast<double>(p.k) * work.element_bytes +
                        m * n * work.d_bytes * matrices_of_outputs(p)) *
                       static_cast<double>(work.products);
  const double memory = bytes / limits.costs->coefficients.memory_bytes;
  return {.launch = costs.launch,
          .start = costs.start + costs.overlap * std::min(memory, multiply + store),
          .multiply = multiply,
          .store = store,
          .memory = memory};
}

}  // namespace tessera::gemm
