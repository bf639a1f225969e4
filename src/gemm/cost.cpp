#include "gemm/cost.h"

#include <algorithm>
#include <cmath>

#include "arch/gpus.h"
#include "gemm/vectors.h"

namespace tessera::gemm {
namespace {

using schedule::StreamK;

constexpr const arch::Gpu& kGpu = arch::kH200;
constexpr double kCyclesAMicrosecond = kGpu.clock_ghz * 1e3;

// HW: fitted to calls on an H200 (burst, operands not in the L2); a test holds the model to them.
constexpr double kLaunch = 2.8;       // microseconds; calls queued one after the other
constexpr double kStart = 6500;       // cycles until the first tile is there, from device memory,
constexpr double kStartBytes = 26e3;  // and one more for so many bytes, where all ask at once,
constexpr double kStartMost = 33e6;   // up to so many
constexpr double kBlockStart = 2500;  // cycles until a later block's first tile is there
constexpr double kStore = 600;        // cycles; a CTA's first float to its last store
constexpr double kL2StoreBytes = 24;  // a cycle and SM, while D fits the L2,
constexpr double kStoreBytes = 9.6;  // and where it does not: nothing is written while all multiply
constexpr double kScratchBytes = 13;    // and more where D is not aligned: through scratch tiles,
constexpr double kRowsBytes = 26;       // or through shared memory; an estimate
constexpr double kFetchBytes = 41;      // a cycle and SM, from the L2 and the L1: the fastest that
                                        // was seen (FP64, 16x128; results/variants/f64.json)
constexpr double kTileOfBatch = 2.2;    // microseconds; the least time of a CTA's tile, from its
                                        // first copies to its last store (FP64, 4096 of 16^3)
constexpr double kSliceSums = 200;      // cycles for each group of warps whose sums are added
constexpr double kRepackBytes = 3.0e6;  // a microsecond, read and written,
constexpr double kRepackLaunch = 2.5;   // microseconds, and so much for the launch
constexpr double kCopyTransposeSlowdown = 0.3;  // of a product with an operand along k, by
                                                // elements, for each 128 rows of its tile,
constexpr double kCopyTransposeCycles = 14;     // and at least so many cycles for 32 elements;
constexpr double kCopyCycles = 10;  // 32 elements of a row: of what reads fragments, too

// Estimates: nothing alone was timed.
constexpr double kEarlyLaunch = 1.5;   // microseconds; after another launch of its plan, instead
                                       // of kLaunch: about kAdd without its memory latency
constexpr double kAdd = 3;             // microseconds; the second launch, begun early
constexpr double kPartialBytes = 18;   // a cycle and SM: partials that are read again
constexpr double kCopySlowdown = 0.1;  // of a product whose operands come element by element
constexpr double kUnknownShare = 0.8;  // of the lanes' peak, for a row without a rate
// HW: an H200, BF16 (results/variants/bf16_thin.json, results/batches).
constexpr double kTensorStart = 3.2;  // microseconds; of tensor cores, to the first products,
constexpr double kTensorStore = 0.5;  // and from the last ones to the end of a tile's store
// The least time of a CTA's tile, and more for each 1024 outputs of two bytes; of a pair of
// warpgroups that take turns so much of it.
constexpr double kTensorTile = 0.57;
constexpr double kTensorTileStore = 0.08;
constexpr double kTensorTileOfPair = 0.75;
// Instead, where tensor copies do not take D: of 128x128 outputs, and where the tile after it is
// multiplied meanwhile.
constexpr double kTensorRowsStore = 2.6;
constexpr double kTensorRowsStoreBeside = 2.3;
constexpr double kTensorOverlap = 0.15;  // of the shorter of multiplying and memory, not hidden
// Several CTAs an SM have short rings. HW: an H200, 1000 to 10000 products of 24x24x24 to 64x64x64:
// so much of the time of reading operands is not hidden, and each product of a CTA waits so long.
constexpr double kTensorShortRing = 0.15;
constexpr double kTensorShortRingWait = 0.35;  // microseconds
// Bytes of C a microsecond: what adding them to a tile takes beside multiplying, and with pairs of
// warpgroups, where C does not fit the L2. HW: an H100 (results/epilogues/h100_c_*.json).
constexpr double kTensorC = 2.5e6;
constexpr double kTensorLargeCOfPair = 1.1e6;
constexpr double kTensorWrite = 1.25;  // of a byte of D, in bytes that are read
constexpr double kTensorAdd = 6;       // microseconds; the second launch where k is split
constexpr double kTensorShare = 0.5;   // of the tensor cores' peak, for a row without a rate
constexpr double kTensorPeak = 989;    // BF16; TF32 has half of it
// HW: an H200, TF32 at 16384 NN, operands of 1 GiB repacked: ping-pong 128x192 takes 24.9 to 41.2
// ms (results/variants/tf32_16384_repacked.json), and reads 68 to 106 GB of device memory
// (results/variants/tf32_16384_ncu.txt). Why is open. 256x128, whose warpgroups work together,
// takes 25.9 (results/tensor/tf32_16384.json).
constexpr double kManyRepackedBytes = 768.0 * (1 << 20);
constexpr double kOfManyRepacked = 0.12e6;  // bytes a microsecond
constexpr double kReducedBytes = 2.5e6;     // a microsecond: partial sums, written and read again
constexpr double kFinishLaunch = 2.5;       // microseconds; a last launch for the epilogue, and
constexpr double kFinishBytes = 3.0e6;      // a microsecond, read and written; estimates
constexpr double kVectorStart = 1.5;        // microseconds; matrix times vector, to the first loads
constexpr double kVectorStore = 0.3;        // and from the last ones to its end
constexpr double kElementLoads = 1.15;      // of its time, where loads are of one element each
// HW: an H200 (results/batches): small products, until a team's first operands have arrived,
constexpr double kSmallStart = 2.2;            // microseconds;
constexpr double kSmallStore = 0.03e-3;        // an output and SM, what storing takes beside
constexpr double kSmallHalvesStore = 0.17e-3;  // multiplying; of 16-bit elements, half sectors each
constexpr double kSmallOverlap = 0.3;   // of the shorter of multiplying and memory, not hidden
constexpr double kNearlyMemory = 0.75;  // of a batch's multiplying, from which on both show
constexpr double kSmallStep = 0.7;      // microseconds of a team for each step of k; an estimate
constexpr double kSmallShare = 0.3;     // of the lanes' peak, for a row without a rate
constexpr double kSmallElements = 2.5;  // of its time, by single elements; an estimate
constexpr double kThreads = 2048;       // of an SM
constexpr int kCtasOfLargeTiles = 2;    // per SM, of register-tiled rungs

double lanes_of(const RatedRow& rated) {
  const double peak = kGpu.fp32_peak();
  return kGpu.fp32_lanes * (rated.tflops > 0 ? rated.tflops / peak : kUnknownShare);
}

// Cycles of the whole GPU.
double memory_cycles(const GemmParams& p, int element_bytes) {
  const double m = static_cast<double>(p.m), n = static_cast<double>(p.n);
  const double outputs = m * n * (p.beta == 0 ? 1 : 2);
  const double elements = (m + n) * static_cast<double>(p.k) + outputs;
  return elements * element_bytes / (kGpu.assumed_copy * 1e3) * kCyclesAMicrosecond;
}

double start_cycles(const GemmParams& p, int element_bytes) {
  const double operands = (static_cast<double>(p.m) + static_cast<double>(p.n)) *
                          static_cast<double>(p.k) * element_bytes;
  return kStart + std::min(operands, kStartMost) / kStartBytes;
}

// One k tile of all CTAs of an SM, fetched by tensor copies.
double k_tile_cycles(const RatedRow& rated) {
  const KernelRow& row = *rated.row;
  const double depth = static_cast<double>(row.block.k) * row.ctas_per_sm;
  const double products = depth * row.block.m * row.block.n;
  const double fetched = depth * (row.block.m + row.block.n) * rated.element_bytes;
  return std::max(products / lanes_of(rated), fetched / kFetchBytes);
}

// Wavefronts of shared memory in which the fragments of one k tile are read: four a 128-bit load.
double fragment_cycles(const KernelRow& row) {
  const double warps =
      static_cast<double>(row.block.m) * row.block.n / (32.0 * row.thread.m * row.thread.n);
  return warps * (row.thread.m + row.thread.n) * row.block.k * row.ctas_per_sm;
}

// By how much an operand along k that is copied element by element slows a product down: its rows
// are far apart.
double copy_transpose_slowdown(int rows) {
  return kCopyTransposeSlowdown * std::max(1.0, rows / 128.0);
}

// One k tile of all CTAs of an SM, loaded this way.
double own_k_tile_cycles(const RatedRow& rated, const OperandModes& modes) {
  const KernelRow& row = *rated.row;
  double rows = 0, transposed = 0, slowdown = 0;
  const auto add_copies = [&](Load fetch, bool along_k, int extent) {
    if (fetch != Load::kCpAsync4) return;
    const double copies = static_cast<double>(extent) * row.block.k * row.ctas_per_sm / 32;
    (along_k ? transposed : rows) += copies * (along_k ? kCopyTransposeCycles : kCopyCycles);
    slowdown = std::max(slowdown, along_k ? copy_transpose_slowdown(extent) : kCopySlowdown);
  };
  add_copies(modes.loads.a, modes.majors.a == Major::kK, row.block.m);
  add_copies(modes.loads.b, modes.majors.b == Major::kK, row.block.n);
  const double pipe = rows > 0 ? rows + fragment_cycles(row) : 0;
  return std::max({k_tile_cycles(rated) * (1 + slowdown), rows + transposed, pipe});
}

bool outgrows_l2(const GemmParams& p, int element_bytes) {
  const double bytes = static_cast<double>(p.m) * static_cast<double>(p.n) * element_bytes;
  return bytes > kGpu.l2_kib * 1024.0;
}

// Cycles to write the tiles of all CTAs of an SM.
double write_cycles(const RatedRow& rated, const GemmParams& p, int ctas_per_sm,
                    int element_bytes) {
  const KernelRow& row = *rated.row;
  const double bytes = static_cast<double>(row.block.m) * row.block.n * element_bytes * ctas_per_sm;
  const double rate = outgrows_l2(p, element_bytes) ? kStoreBytes : kL2StoreBytes;
  if (are_whole_vectors(p.d_row, element_bytes)) return bytes / rate;
  return bytes / rate + bytes / (rated.stores_through_shared ? kRowsBytes : kScratchBytes);
}

// The end of an item. What other CTAs of the SM multiply meanwhile is not lost, unless all wait for
// device memory.
double store_cycles(const RatedRow& rated, const GemmParams& p) {
  const KernelRow& row = *rated.row;
  const double own = kStore + (row.slices > 1 ? row.slices * kSliceSums : 0);
  const double write = write_cycles(rated, p, row.ctas_per_sm, rated.element_bytes);
  return outgrows_l2(p, rated.element_bytes) ? own / row.ctas_per_sm + write
                                             : (own + write) / row.ctas_per_sm;
}

// Blocks of a rung that run at the same time on one SM.
int ctas_per_sm(const KernelRow& row) {
  const int threads = row.threads * row.threads_y;
  const int by_threads = static_cast<int>(kThreads) / threads;
  const bool large = row.block.m * row.block.n >= 16 * threads;
  return large ? std::min(kCtasOfLargeTiles, by_threads) : std::min(32, by_threads);
}

// Of a persistent row whose operands come by tensor copies.
schedule::TileCosts tile_costs(const RatedRow& rated, const GemmParams& p, int sms) {
  const KernelRow& row = *rated.row;
  const double partial = static_cast<double>(row.block.m) * row.block.n * rated.element_bytes;
  return {.ctas_per_sm = row.ctas_per_sm,
          .start = start_cycles(p, rated.element_bytes),
          .k_tile = k_tile_cycles(rated),
          .store = store_cycles(rated, p),
          .memory = memory_cycles(p, rated.element_bytes),
          .add = kAdd * kCyclesAMicrosecond,
          .add_partial = partial / (kPartialBytes * sms)};
}

StreamK schedule_of(const KernelRow& row, const GemmParams& p, int ctas,
                    const schedule::TileCosts& costs, Policy split) {
  switch (split) {
    case Policy::kNever:
      return schedule::data_parallel(p.m, p.n, p.k, row.block, ctas);
    case Policy::kAlways:
      return schedule::split_last_wave(p.m, p.n, p.k, row.block, ctas);
    case Policy::kModel:
      break;
  }
  return schedule::choose_stream_k(p.m, p.n, p.k, row.block, ctas, costs);
}

Cost microseconds_of(const schedule::Cycles& cycles) {
  return {.launch = kLaunch,
          .start = cycles.start / kCyclesAMicrosecond,
          .multiply = cycles.multiply / kCyclesAMicrosecond,
          .store = cycles.store / kCyclesAMicrosecond,
          .memory = cycles.memory / kCyclesAMicrosecond,
          .add = cycles.add / kCyclesAMicrosecond};
}

}  // namespace

Scheduled cost_of_persistent(const RatedRow& rated, const OperandModes& modes, const GemmParams& p,
                             const DeviceLimits& limits, Policy split) {
  const int ctas = limits.sms * rated.row->ctas_per_sm;
  schedule::TileCosts costs = tile_costs(rated, p, limits.sms);
  Scheduled scheduled{schedule_of(*rated.row, p, ctas, costs, split), {}};
  if (p.m == 0 || p.n == 0) return scheduled;
  costs.k_tile = own_k_tile_cycles(rated, modes);
  scheduled.cost = microseconds_of(schedule::predicted(scheduled.schedule, ctas, costs));
  return scheduled;
}

Scheduled cost_of_batch(const RatedRow& rated, const OperandModes& modes, const GemmParams& p,
                        const DeviceLimits& limits, std::int64_t count, bool has_loading_warps) {
  GemmParams column = p;
  column.m = schedule::pieces(p.m, rated.row->block.m) * rated.row->block.m * count;
  Scheduled scheduled = cost_of_persistent(rated, modes, column, limits, Policy::kNever);
  scheduled.cost.memory =
      memory_cycles(p, rated.element_bytes) * static_cast<double>(count) / kCyclesAMicrosecond;
  // WHY: D of a wave of tiles goes to the L2, and from there to memory while the next is
  // multiplied.
  if (has_loading_warps) {
    scheduled.cost.store *= store_cycles(rated, p) / store_cycles(rated, column);
  }
  const int ctas = limits.sms * rated.row->ctas_per_sm;
  const double least =
      std::ceil(static_cast<double>(scheduled.schedule.tiles()) / ctas) * kTileOfBatch;
  Cost& cost = scheduled.cost;
  cost.store = std::max(cost.store, least - cost.multiply);
  const double others = cost.multiply + cost.store;
  if (cost.memory > kNearlyMemory * others) {
    cost.start += kSmallOverlap * std::min(cost.memory, others);
  }
  return scheduled;
}

// Nothing is fetched ahead of a block's start, and waves are whole.
Cost cost_of_tiles(const RatedRow& rated, const GemmParams& p, int element_bytes,
                   const DeviceLimits& limits, std::int64_t count, int ctas) {
  if (p.m == 0 || p.n == 0) return {};
  const KernelRow& row = *rated.row;
  if (ctas == 0) ctas = ctas_per_sm(row);
  const double slots = static_cast<double>(limits.sms) * ctas;
  const double tiles = static_cast<double>(schedule::pieces(p.m, row.block.m)) *
                       static_cast<double>(schedule::pieces(p.n, row.block.n)) *
                       static_cast<double>(count);
  const double waves = static_cast<double>(static_cast<std::int64_t>((tiles + slots - 1) / slots));
  const double products = static_cast<double>(row.block.m) * row.block.n * ctas;
  return microseconds_of(
      {.start = start_cycles(p, element_bytes),
       .multiply = waves * products * static_cast<double>(p.k) / lanes_of(rated),
       .store = waves * (kBlockStart + kStore + write_cycles(rated, p, ctas, element_bytes)) / ctas,
       .memory = memory_cycles(p, element_bytes) * static_cast<double>(count),
       .add = 0});
}

Cost cost_of_vectors(const VectorWork& work, const DeviceLimits& limits) {
  const double elements = static_cast<double>(work.outputs) * static_cast<double>(work.k) +
                          static_cast<double>(work.outputs) + static_cast<double>(work.k);
  const double bytes = elements * static_cast<double>(work.vectors) * work.element_bytes;
  const double memory = bytes / (kGpu.assumed_copy * 1e3);
  const double busy = std::min(1.0, static_cast<double>(work.blocks) / limits.sms);
  return {.launch = kEarlyLaunch,
          .start = kVectorStart,
          .multiply = memory / busy * (work.is_aligned ? 1 : kElementLoads),
          .store = kVectorStore,
          .memory = memory};
}

Cost cost_of_small(const SmallWork& work, const GemmParams& p, const DeviceLimits& limits) {
  const double rate = work.rate > 0 ? work.rate : kSmallShare * kGpu.fp32_peak();
  const auto whole = [](long long extent, int block) {
    return static_cast<double>(schedule::pieces(extent, block));
  };
  const double tiles =
      whole(p.m, work.block.m) * whole(p.n, work.block.n) * static_cast<double>(work.products);
  const double of_sm = std::ceil(tiles / limits.sms);  // of the SM that has the most
  const double outputs = static_cast<double>(work.block.m) * work.block.n;
  const double depth = whole(p.k, work.block.k) * work.block.k;
  // A team waits for memory in each step, also where no other one of its SM has work.
  const double waits = std::ceil(of_sm / work.teams) * depth / work.block.k * kSmallStep;
  const double multiply = std::max(of_sm * 2 * outputs * depth / (rate * 1e6 / limits.sms), waits) *
                          (work.is_aligned ? 1 : kSmallElements);
  const double store = of_sm * outputs * (work.d_bytes == 2 ? kSmallHalvesStore : kSmallStore);
  const double m = static_cast<double>(p.m), n = static_cast<double>(p.n);
  const double bytes = ((m + n) * static_cast<double>(p.k) * work.element_bytes +
                        m * n * work.d_bytes * (p.beta == 0 ? 1 : 2)) *
                       static_cast<double>(work.products);
  const double memory = bytes / (kGpu.assumed_copy * 1e3);
  return {.launch = kLaunch,
          .start = kSmallStart + kSmallOverlap * std::min(memory, multiply + store),
          .multiply = multiply,
          .store = store,
          .memory = memory};
}

namespace {

double store_of_tensor_cores(const TensorCoreWork& work, double waves, double multiply) {
  const double outputs = static_cast<double>(work.block.m) * work.block.n;
  if (!work.copies_d) {
    return waves * outputs / (128 * 128) *
           (work.hides_store ? kTensorRowsStoreBeside : kTensorRowsStore);
  }
  const double least =
      (kTensorTile + kTensorTileStore * outputs / 1024 * size_of(work.types->d) / 2) *
      (work.hides_store ? kTensorTileOfPair : 1);
  const double waits = work.per_sm > 1 && work.products > 1 ? waves * kTensorShortRingWait : 0;
  return std::max((work.hides_store ? 1 : waves) * kTensorStore, waves * least - multiply) + waits;
}

double adding_of_c(const TensorCoreWork& work, const GemmParams& p) {
  if (p.beta == 0 || work.parts > 0) return 0;
  const double bytes = static_cast<double>(p.m) * static_cast<double>(p.n) *
                       static_cast<double>(work.products) * size_of(work.types->d);
  return bytes /
         (work.hides_store && bytes > kGpu.l2_kib * 1024.0 ? kTensorLargeCOfPair : kTensorC);
}

double repacking_of_tensor_cores(const TensorCoreWork& work) {
  const double bytes = static_cast<double>(work.repacked_bytes);
  const bool many =
      work.hides_store && bytes > kManyRepackedBytes && size_of(work.types->a) == sizeof(float);
  return cost_of_repacking(work.repacked_bytes) + (many ? bytes / kOfManyRepacked : 0);
}

}  // namespace

Cost cost_of_tensor_cores(const TensorCoreWork& work, const GemmParams& p,
                          const DeviceLimits& limits) {
  const double rate = work.rate > 0 ? work.rate : kTensorShare * kTensorPeak;  // flop/us * 1e6
  const double m = static_cast<double>(p.m), n = static_cast<double>(p.n);
  const double k = static_cast<double>(p.k);
  const double ctas = static_cast<double>(limits.sms) * work.per_sm;
  const double waves = std::ceil(static_cast<double>(work.tiles) / ctas);
  const double of_tile = 2.0 * work.block.m * work.block.n * work.block.k *
                         static_cast<double>(work.k_tiles) / (rate * 1e6 / ctas);
  const double outputs = m * n * size_of(work.types->d) * (p.beta == 0 ? 1 : 2);
  const double products = static_cast<double>(work.products);
  const double operands = (m + n) * k * size_of(work.types->a) * products;
  const double bytes = operands + kTensorWrite * outputs * products;
  const double partial = m * n * static_cast<double>(work.parts) * sizeof(float);
  const double multiply = waves * of_tile, memory = bytes / (kGpu.assumed_copy * 1e3);
  const double reads = operands / (kGpu.assumed_copy * 1e3);
  const double beside = kTensorOverlap * std::min(multiply, memory) / work.per_sm +
                        (work.per_sm > 1 ? kTensorShortRing * reads : 0);
  return {.launch = kEarlyLaunch,
          .repack = repacking_of_tensor_cores(work),
          .start = kTensorStart + beside,
          .multiply = multiply,
          .store = store_of_tensor_cores(work, waves, multiply) + adding_of_c(work, p),
          .memory = memory,
          .add = work.parts > 0 ? kTensorAdd + partial / kReducedBytes : 0};
}

double cost_of_finishing(double bytes) { return kFinishLaunch + bytes / kFinishBytes; }

double cost_of_repacking(std::int64_t bytes) {
  return bytes > 0 ? 2 * static_cast<double>(bytes) / kRepackBytes + kRepackLaunch : 0;
}

double least_after_another(const GemmParams& p, std::span<const RatedRow> rows,
                           const DeviceLimits& limits) {
  constexpr double kRounding = 1e-9;
  double lanes = 1;
  for (const RatedRow& row : rows) lanes = std::max(lanes, lanes_of(row));
  const double products =
      static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
  const double cycles = kStart + products / (lanes * limits.sms);
  return (kEarlyLaunch + cycles / kCyclesAMicrosecond) * (1 - kRounding);
}

double after_another(Cost cost) {
  cost.launch = kEarlyLaunch;
  return cost.total();
}

}  // namespace tessera::gemm
