#include <algorithm>
#include <cmath>
#include <numeric>

#include "gemm/cost/cost.h"
#include "gemm/vectors.h"

namespace tessera::gemm {
namespace {

using schedule::StreamK;

constexpr double kThreads = 2048;     // most resident threads of an SM
constexpr int kCtasOfLargeTiles = 2;  // CTAs per SM of a rung with at least 16 outputs per thread

// The costs of a kernel's config on one GPU.
struct RowCosts {
  RowCosts(const RatedRow& rated, const DeviceLimits& limits)
      : gpu(*limits.costs->gpu),
        memory_bytes(limits.costs->coefficients.memory_bytes),
        own(limits.costs->coefficients.*rated.costs) {}

  double cycles_a_microsecond() const { return gpu.clock_ghz * 1e3; }

  const arch::Gpu& gpu;
  double memory_bytes;  // bytes of device memory per microsecond
  const PersistentCosts& own;
};

double lanes_of(const RatedRow& rated, const RowCosts& costs) {
  const double peak = costs.gpu.fp32_peak();
  return costs.gpu.fp32_lanes * (rated.tflops > 0 ? rated.tflops / peak : costs.own.unknown_share);
}

// Cycles in which device memory reads A and B once, and C if C is added, and writes D.
double memory_cycles(const GemmParams& p, int element_bytes, const RowCosts& costs) {
  const double m = static_cast<double>(p.m), n = static_cast<double>(p.n);
  const double outputs = m * n * matrices_of_outputs(p);
  const double elements = (m + n) * static_cast<double>(p.k) + outputs;
  return elements * element_bytes / costs.memory_bytes * costs.cycles_a_microsecond();
}

double start_cycles(const GemmParams& p, int element_bytes, const PersistentCosts& costs) {
  const double operands = (static_cast<double>(p.m) + static_cast<double>(p.n)) *
                          static_cast<double>(p.k) * element_bytes;
  return costs.start + std::min(operands, costs.start_most) / costs.start_bytes;
}

// Cycles in which each CTA of an SM computes one k tile, if tensor copies load A and B.
double k_tile_cycles(const RatedRow& rated, const RowCosts& costs) {
  const KernelRow& row = *rated.row;
  const double depth = static_cast<double>(row.block.k) * row.ctas_per_sm;
  const double products = depth * row.block.m * row.block.n;
  const double fetched = depth * (row.block.m + row.block.n) * rated.element_bytes;
  const double multiply = products / lanes_of(rated, costs);
  const double fetch = fetched / costs.own.fetch_bytes;
  return std::max({multiply, fetch, costs.own.k_tile * row.ctas_per_sm}) +
         costs.own.fetch_beside * std::min(multiply, fetch);
}

// The leading dimension of A and of B in elements: the larger of the two strides.
long long stride_of_a(const GemmParams& p) { return std::max(p.a_row, p.a_col); }
long long stride_of_b(const GemmParams& p) { return std::max(p.b_row, p.b_col); }

// Cycles in which the warps of an SM copy one k tile for each CTA. A lane copies 16, 8, 4 or 2
// bytes at a time: the largest of these that divides the row stride.
double copying_cycles(const RatedRow& rated, const GemmParams& p, const PersistentCosts& costs) {
  const KernelRow& row = *rated.row;
  const auto of = [&](long long stride, int extent) {
    constexpr long long kWidest = 16, kLanes = 32;
    const long long width = std::gcd(stride * rated.element_bytes, kWidest);
    const double copies = static_cast<double>(extent) * row.block.k * row.ctas_per_sm *
                          rated.element_bytes / static_cast<double>(width * kLanes);
    return copies * (width == 16  ? costs.copy_of_16
                     : width == 8 ? costs.copy_of_8
                     : width == 4 ? costs.copy_of_4
                                  : costs.copy_of_2);
  };
  return of(stride_of_a(p), row.block.m) + of(stride_of_b(p), row.block.n);
}

// Shared-memory wavefronts, one per cycle, in which the CTAs of an SM load the fragments of one k
// tile each. A 128-bit load of a warp has four wavefronts.
double fragment_cycles(const KernelRow& row) {
  const double warps =
      static_cast<double>(row.block.m) * row.block.n / (32.0 * row.thread.m * row.thread.n);
  return warps * (row.thread.m + row.thread.n) * row.block.k * row.ctas_per_sm;
}

// The share of the product's time that is added if an operand along k is copied element by element,
// from rows that are far apart. `rows`: rows of the operand in one tile.
double copy_transpose_slowdown(int rows, const PersistentCosts& costs) {
  return costs.transpose_slowdown * std::max(1.0, rows / 128.0);
}

// Cycles in which each CTA of an SM computes one k tile, with A and B loaded as `modes` says.
double own_k_tile_cycles(const RatedRow& rated, const OperandModes& modes, const GemmParams& p,
                         const RowCosts& costs) {
  const KernelRow& row = *rated.row;
  const PersistentCosts& own = costs.own;
  double rows = 0, transposed = 0, slowdown = 0;
  const auto add_copies = [&](Load fetch, bool along_k, int extent) {
    if (fetch != Load::kCpAsync4) return;
    const double copies = static_cast<double>(extent) * row.block.k * row.ctas_per_sm / 32;
    (along_k ? transposed : rows) += copies * (along_k ? own.transpose_cycles : own.copy_cycles);
    slowdown =
        std::max(slowdown, along_k ? copy_transpose_slowdown(extent, own) : own.copy_slowdown);
  };
  add_copies(modes.loads.a, modes.majors.a == Major::kK, row.block.m);
  add_copies(modes.loads.b, modes.majors.b == Major::kK, row.block.n);
  const double pipe = rows > 0 ? rows + fragment_cycles(row) : 0;
  double across = 1;
  if (rated.element_bytes == 4 && p.a_col != 1) across *= own.across_k;
  if (rated.element_bytes == 4 && p.b_row != 1) across *= own.across_k;
  const double fetched = k_tile_cycles(rated, costs) * (1 + slowdown) * across;
  return std::max({fetched, rows + transposed, pipe}) + copying_cycles(rated, p, own);
}

bool outgrows_l2(const GemmParams& p, int element_bytes, const arch::Gpu& gpu) {
  const double bytes = static_cast<double>(p.m) * static_cast<double>(p.n) * element_bytes;
  return bytes > gpu.l2_kib * 1024.0;
}

// Cycles in which each CTA of an SM writes one tile of D, and reads the tile of C if C is added.
double write_cycles(const RatedRow& rated, const GemmParams& p, int ctas_per_sm, int element_bytes,
                    const RowCosts& costs) {
  const KernelRow& row = *rated.row;
  const PersistentCosts& own = costs.own;
  const double bytes = static_cast<double>(row.block.m) * row.block.n * element_bytes * ctas_per_sm;
  const double rate =
      outgrows_l2(p, element_bytes, costs.gpu) ? own.store_bytes : own.l2_store_bytes;
  const double adding = matrices_of_outputs(p) == 1 ? 0 : bytes / own.c_bytes;
  if (are_whole_vectors(p.d_row, element_bytes)) return bytes / rate + adding;
  return bytes / rate + adding +
         bytes / (rated.stores_through_shared ? own.rows_bytes : own.scratch_bytes);
}

// Cycles that a CTA waits for C at the end of each tile.
double waits_for_c(const KernelRow& row, const GemmParams& p, const PersistentCosts& costs) {
  const double outputs = static_cast<double>(row.block.m) * row.block.n;
  return p.beta == 0 ? 0 : costs.c_wait * outputs / (row.threads * row.threads_y);
}

// Cycles that the end of a work item adds. Other CTAs of the SM multiply meanwhile. But if D does
// not fit L2, all CTAs wait for the writes to device memory.
double store_cycles(const RatedRow& rated, const GemmParams& p, const RowCosts& costs) {
  const KernelRow& row = *rated.row;
  const double own = costs.own.store + (row.slices > 1 ? row.slices * costs.own.slice_sums : 0) +
                     waits_for_c(row, p, costs.own);
  const double write = write_cycles(rated, p, row.ctas_per_sm, rated.element_bytes, costs);
  return outgrows_l2(p, rated.element_bytes, costs.gpu) ? own / row.ctas_per_sm + write
                                                        : (own + write) / row.ctas_per_sm;
}

// The number of CTAs of a rung that run on one SM at the same time.
int ctas_per_sm(const KernelRow& row) {
  const int threads = row.threads * row.threads_y;
  const int by_threads = static_cast<int>(kThreads) / threads;
  const bool large = row.block.m * row.block.n >= 16 * threads;
  return large ? std::min(kCtasOfLargeTiles, by_threads) : std::min(32, by_threads);
}

// The costs of a config with a persistent grid, if tensor copies load A and B.
schedule::TileCosts tile_costs(const RatedRow& rated, const GemmParams& p, int sms,
                               const RowCosts& costs) {
  const KernelRow& row = *rated.row;
  const double partial = static_cast<double>(row.block.m) * row.block.n * rated.element_bytes;
  const double memory_of_byte = costs.cycles_a_microsecond() / costs.memory_bytes;
  const double row_bytes = static_cast<double>(row.block.k) * rated.element_bytes;
  const double rows = static_cast<double>(p.m) + static_cast<double>(p.n);
  return {.ctas_per_sm = row.ctas_per_sm,
          .start = start_cycles(p, rated.element_bytes, costs.own),
          .k_tile = k_tile_cycles(rated, costs),
          .store = store_cycles(rated, p, costs),
          .memory = memory_cycles(p, rated.element_bytes, costs),
          .add = costs.own.add * costs.cycles_a_microsecond(),
          .add_partial = partial / (costs.own.partial_bytes * sms),
          .alone = costs.own.alone,
          .slab = rows * row_bytes * memory_of_byte,
          .tile_slab = (row.block.m + row.block.n) * row_bytes * memory_of_byte,
          .held = costs.own.l2_held * memory_of_byte};
}

StreamK schedule_of(const KernelRow& row, const GemmParams& p, int ctas,
                    const schedule::TileCosts& costs, Splitting split) {
  if (split.runs > 0) {
    const StreamK whole = schedule::data_parallel(p.m, p.n, p.k, row.block, ctas);
    return schedule::with_split(whole, split.whole_tiles, split.runs, ctas);
  }
  switch (split.policy) {
    case Policy::kNever:
      return schedule::data_parallel(p.m, p.n, p.k, row.block, ctas);
    case Policy::kAlways:
      return schedule::split_last_wave(p.m, p.n, p.k, row.block, ctas);
    case Policy::kModel:
      break;
  }
  return schedule::choose_stream_k(p.m, p.n, p.k, row.block, ctas, costs);
}

// Bytes of A and B that waves read again from device memory because L2 does not hold them. The
// tiles of a wave form about a square of D, and read the square's rows of A and columns of B.
double read_again(const RatedRow& rated, const GemmParams& p, int ctas,
                  const PersistentCosts& costs) {
  const BlockTile& block = rated.row->block;
  const double m = static_cast<double>(p.m), n = static_cast<double>(p.n);
  const double row_bytes = static_cast<double>(p.k) * rated.element_bytes;
  const double tiles_m = std::ceil(m / block.m), tiles = tiles_m * std::ceil(n / block.n);
  const double active = std::min<double>(ctas, tiles);
  const double rows = std::min<double>(schedule::kGroup, tiles_m);
  const double of_wave = (rows * block.m + std::ceil(active / rows) * block.n) * row_bytes;
  const double operands = (m + n) * row_bytes;
  const double more = std::max(0.0, std::max(tiles / ctas, 1.0) * of_wave - operands);
  const double held = costs.l2_held / std::max(operands, 1.0);
  return costs.read_again * more / (1 + held * held * held);
}

// Cycles of device memory for one product. The launch that repacks operands is not counted.
double own_memory_cycles(const RatedRow& rated, const GemmParams& p, const StreamK& chosen,
                         const DeviceLimits& limits, const RowCosts& costs) {
  const KernelRow& row = *rated.row;
  const double again = read_again(rated, p, limits.sms * row.ctas_per_sm, costs.own) /
                       costs.memory_bytes * costs.cycles_a_microsecond();
  const double flight =
      std::max(1.0, static_cast<double>(row.shared_bytes) * chosen.ctas / limits.sms);
  const double missing = costs.own.flight_bytes / flight;
  const auto is_odd = [&](long long stride) { return stride * rated.element_bytes % 32 != 0; };
  const bool odd = is_odd(stride_of_a(p)) || is_odd(stride_of_b(p));
  return (memory_cycles(p, rated.element_bytes, costs) + again) * std::sqrt(1 + missing * missing) *
         (odd ? costs.own.odd_rows : 1);
}

// Adds two slowdowns: long products heat the chip, and device memory and arithmetic overlap only in
// part.
void add_slow_ends(Cost& cost, const PersistentCosts& costs) {
  cost.multiply *= 1 + costs.heat * cost.multiply / (cost.multiply + costs.heat_time);
  cost.start += costs.overlap * std::min(cost.memory, cost.multiply + cost.store);
}

Cost microseconds_of(const schedule::Cycles& cycles, const RowCosts& costs) {
  const double one = costs.cycles_a_microsecond();
  return {.launch = costs.own.launch,
          .start = cycles.start / one,
          .multiply = cycles.multiply / one,
          .store = cycles.store / one,
          .memory = cycles.memory / one,
          .add = cycles.add / one};
}

}  // namespace

Scheduled cost_of_persistent(const RatedRow& rated, const OperandModes& modes, const GemmParams& p,
                             const DeviceLimits& limits, Splitting split) {
  const RowCosts of_row(rated, limits);
  const int ctas = limits.sms * rated.row->ctas_per_sm;
  schedule::TileCosts costs = tile_costs(rated, p, limits.sms, of_row);
  Scheduled scheduled{schedule_of(*rated.row, p, ctas, costs, split), {}};
  if (p.m == 0 || p.n == 0) return scheduled;
  costs.k_tile = own_k_tile_cycles(rated, modes, p, of_row);
  costs.memory = own_memory_cycles(rated, p, scheduled.schedule, limits, of_row);
  scheduled.cost = microseconds_of(schedule::predicted(scheduled.schedule, ctas, costs), of_row);
  add_slow_ends(scheduled.cost, of_row.own);
  return scheduled;
}

Scheduled cost_of_batch(const RatedRow& rated, const OperandModes& modes, const GemmParams& p,
                        const DeviceLimits& limits, std::int64_t count, bool has_loading_warps) {
  const RowCosts of_row(rated, limits);
  GemmParams column = p;
  column.m = ceil_div(p.m, rated.row->block.m) * rated.row->block.m * count;
  Scheduled scheduled = cost_of_persistent(rated, modes, column, limits, Policy::kNever);
  scheduled.cost.memory = memory_cycles(p, rated.element_bytes, of_row) *
                          static_cast<double>(count) / of_row.cycles_a_microsecond();
  // Stores cost as much as those of a single product. WHY: a wave of tiles is stored to L2, and L2
  // writes it to device memory while the next wave is multiplied.
  if (has_loading_warps) {
    scheduled.cost.store *= store_cycles(rated, p, of_row) / store_cycles(rated, column, of_row);
  }
  const int ctas = limits.sms * rated.row->ctas_per_sm;
  const double least =
      std::ceil(static_cast<double>(scheduled.schedule.tiles()) / ctas) * of_row.own.tile_of_batch;
  Cost& cost = scheduled.cost;
  cost.store = std::max(cost.store, least - cost.multiply);
  const double others = cost.multiply + cost.store;
  if (cost.memory > of_row.own.nearly_memory * others) {
    cost.start += of_row.own.batch_overlap * std::min(cost.memory, others);
  }
  return scheduled;
}

// The operands of a tile are not loaded before its CTA starts, and a partial wave takes as long as
// a full wave.
Cost cost_of_tiles(const RatedRow& rated, const GemmParams& p, int element_bytes,
                   const DeviceLimits& limits, std::int64_t count, int ctas) {
  if (p.m == 0 || p.n == 0) return {};
  const KernelRow& row = *rated.row;
  RatedRow of_blocks = rated;
  of_blocks.costs = &Coefficients::tiles;
  const RowCosts costs(of_blocks, limits);
  if (ctas == 0) ctas = ctas_per_sm(row);
  const double slots = static_cast<double>(limits.sms) * ctas;
  const double tiles = static_cast<double>(ceil_div(p.m, row.block.m)) *
                       static_cast<double>(ceil_div(p.n, row.block.n)) * static_cast<double>(count);
  const double waves = static_cast<double>(static_cast<std::int64_t>((tiles + slots - 1) / slots));
  const double products = static_cast<double>(row.block.m) * row.block.n * ctas;
  const double end = limits.costs->coefficients.blocks.start + costs.own.store +
                     waits_for_c(row, p, costs.own) +
                     write_cycles(rated, p, ctas, element_bytes, costs);
  Cost cost = microseconds_of(
      {.start = start_cycles(p, element_bytes, costs.own),
       .multiply = waves * products * static_cast<double>(p.k) / lanes_of(rated, costs),
       .store = waves * end / ctas,
       .memory = memory_cycles(p, element_bytes, costs) * static_cast<double>(count),
       .add = 0},
      costs);
  add_slow_ends(cost, costs.own);
  return cost;
}

double least_after_another(const GemmParams& p, std::span<const RatedRow> rows,
                           const DeviceLimits& limits) {
  constexpr double kRounding = 1e-9;
  const RowCosts costs(rows.empty() ? RatedRow{} : rows.front(), limits);
  double lanes = 1;
  for (const RatedRow& row : rows) lanes = std::max(lanes, lanes_of(row, costs));
  const double products =
      static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
  const double cycles = costs.own.start + products / (lanes * limits.sms);
  return (limits.costs->coefficients.passes.early_launch + cycles / costs.cycles_a_microsecond()) *
         (1 - kRounding);
}

}  // namespace tessera::gemm
