#include "catalog/cost_model.h"

#include <algorithm>

#include "arch/gpus.h"

namespace tessera::catalog {
namespace {

using scheduler::StreamK;

constexpr const arch::Gpu& kGpu = arch::kH200;
constexpr double kCyclesAMicrosecond = kGpu.clock_ghz * 1e3;

// HW: fitted to calls on an H200 (burst, operands not in the L2); a test holds the model to them.
constexpr double kLaunch = 2.8;       // microseconds; calls queued one behind the other
constexpr double kStart = 6500;       // cycles until the first tile has come from device memory,
constexpr double kStartBytes = 26e3;  // and more where all ask at once: one for so many bytes,
constexpr double kStartMost = 33e6;   // up to so many
constexpr double kBlockStart = 2500;  // cycles until a later block's first tile has come
constexpr double kStore = 600;        // cycles; a CTA's first float to its last store
constexpr double kL2StoreBytes = 24;  // a cycle and multiprocessor, while D fits the L2,
constexpr double kStoreBytes = 9.6;  // and where it does not: nothing is written while all multiply
constexpr double kScratchBytes = 13;  // and more where D is not aligned: by way of scratch tiles
constexpr double kGroupSums = 200;    // cycles for each group of warps whose sums are added
constexpr double kTurnBytes = 3.0e6;  // a microsecond, read and written,
constexpr double kTurnLaunch = 2.5;   // microseconds, and so much for the launch
constexpr double kCopyTurnSlowdown = 0.3;  // of a product with an operand along k, by elements, for
                                           // each 128 rows of its tile,
constexpr double kCopyTurnCycles = 14;     // and at least so many cycles for 32 elements;
constexpr double kCopyCycles = 10;         // 32 elements of a row: of what reads fragments, too

// Estimates: nothing alone was timed.
constexpr double kEarlyLaunch = 1.5;  // microseconds; behind another launch of its plan, instead
                                      // of kLaunch: about what kAdd leaves beside its way to memory
constexpr double kFetchBytes = 22;    // a cycle and multiprocessor, from the L2
constexpr double kAdd = 3;            // microseconds; the second launch, begun early
constexpr double kPartBytes = 18;     // a cycle and multiprocessor: parts that are read again
constexpr double kCopySlowdown = 0.1;  // of a product whose operands come element by element
constexpr double kUnknownShare = 0.8;  // of the lanes' peak, for a row without a rate
constexpr double kThreads = 2048;      // of a multiprocessor
constexpr int kResidentLarge = 2;      // blocks a multiprocessor of register-tiled rungs

double lanes_of(const KernelRow& row) {
  const double peak = kGpu.fp32_peak();
  return kGpu.fp32_lanes * (row.tflops > 0 ? row.tflops / peak : kUnknownShare);
}

int multiprocessors_of(const PlanContext& context) { return std::max(1, context.multiprocessors); }

// Cycles of the whole GPU.
double memory_cycles(const GemmParams& p, int element_bytes) {
  const double m = static_cast<double>(p.m), n = static_cast<double>(p.n);
  const double outputs = m * n * (p.beta == 0 ? 1 : 2);
  const double elements = (m + n) * static_cast<double>(p.k) + outputs;
  return elements * element_bytes / (kGpu.measured_copy * 1e3) * kCyclesAMicrosecond;
}

double start_cycles(const GemmParams& p, int element_bytes) {
  const double operands = (static_cast<double>(p.m) + static_cast<double>(p.n)) *
                          static_cast<double>(p.k) * element_bytes;
  return kStart + std::min(operands, kStartMost) / kStartBytes;
}

// One k tile of all resident CTAs, fetched by tensor copies.
double k_tile_cycles(const KernelRow& row) {
  const double depth = static_cast<double>(row.block.k) * row.resident;
  const double products = depth * row.block.m * row.block.n;
  const double fetched = depth * (row.block.m + row.block.n) * 4;
  return std::max(products / lanes_of(row), fetched / kFetchBytes);
}

// Wavefronts of shared memory in which the fragments of one k tile are read: four a 128-bit load.
double fragment_cycles(const KernelRow& row) {
  const double warps =
      static_cast<double>(row.block.m) * row.block.n / (32.0 * row.thread.m * row.thread.n);
  return warps * (row.thread.m + row.thread.n) * row.block.k * row.resident;
}

// By how much an operand along k that is copied element by element slows a product down: its rows
// lie far apart.
double copy_turn_slowdown(int rows) { return kCopyTurnSlowdown * std::max(1.0, rows / 128.0); }

// One k tile of all resident CTAs, fetched the way of this row.
double own_k_tile_cycles(const KernelRow& row) {
  double rows = 0, turned = 0, slowdown = 0;
  const auto add_copies = [&](Fetch fetch, bool along_k, int extent) {
    if (fetch != Fetch::kCopy4) return;
    const double copies = static_cast<double>(extent) * row.block.k * row.resident / 32;
    (along_k ? turned : rows) += copies * (along_k ? kCopyTurnCycles : kCopyCycles);
    slowdown = std::max(slowdown, along_k ? copy_turn_slowdown(extent) : kCopySlowdown);
  };
  add_copies(row.fetches.a, row.sides.a == Contiguous::kK, row.block.m);
  add_copies(row.fetches.b, row.sides.b == Contiguous::kK, row.block.n);
  const double pipe = rows > 0 ? rows + fragment_cycles(row) : 0;
  return std::max({k_tile_cycles(row) * (1 + slowdown), rows + turned, pipe});
}

bool outgrows_l2(const GemmParams& p, int element_bytes) {
  const double bytes = static_cast<double>(p.m) * static_cast<double>(p.n) * element_bytes;
  return bytes > kGpu.l2_kib * 1024.0;
}

// Cycles to write the tiles of all CTAs of a multiprocessor.
double write_cycles(const KernelRow& row, const GemmParams& p, int resident, int element_bytes) {
  const double bytes = static_cast<double>(row.block.m) * row.block.n * element_bytes * resident;
  const double rate = outgrows_l2(p, element_bytes) ? kStoreBytes : kL2StoreBytes;
  const bool by_scratch = p.d_row * element_bytes % 16 != 0;
  return bytes / rate + (by_scratch ? bytes / kScratchBytes : 0);
}

// The end of an item. What other CTAs of the multiprocessor multiply meanwhile is not lost, unless
// all wait for device memory.
double store_cycles(const KernelRow& row, const GemmParams& p) {
  const double own = kStore + (row.groups > 1 ? row.groups * kGroupSums : 0);
  const double write = write_cycles(row, p, row.resident, sizeof(float));
  return outgrows_l2(p, sizeof(float)) ? own / row.resident + write : (own + write) / row.resident;
}

// Blocks of a rung that run at the same time on one multiprocessor.
int resident_blocks(const KernelRow& row) {
  const int threads = row.threads * row.threads_y;
  const int by_threads = static_cast<int>(kThreads) / threads;
  const bool large = row.block.m * row.block.n >= 16 * threads;
  return large ? std::min(kResidentLarge, by_threads) : std::min(32, by_threads);
}

// A block a tile: nothing is fetched ahead of a block's start, and waves are whole.
scheduler::Cycles rung_cycles(const KernelRow& row, const GemmParams& p, int element_bytes,
                              int multiprocessors) {
  const int resident = resident_blocks(row);
  const double slots = static_cast<double>(multiprocessors) * resident;
  const double tiles = static_cast<double>(scheduler::pieces(p.m, row.block.m)) *
                       static_cast<double>(scheduler::pieces(p.n, row.block.n));
  const double waves = static_cast<double>(static_cast<std::int64_t>((tiles + slots - 1) / slots));
  const double products = static_cast<double>(row.block.m) * row.block.n * resident;
  const double start = start_cycles(p, element_bytes);
  return {.start = start,
          .multiply = waves * products * static_cast<double>(p.k) / lanes_of(row),
          .store = waves * (kBlockStart + kStore + write_cycles(row, p, resident, element_bytes)) /
                   resident,
          .memory = memory_cycles(p, element_bytes),
          .add = 0};
}

}  // namespace

scheduler::TileCosts tile_costs(const KernelRow& row, const GemmParams& p,
                                const PlanContext& context) {
  const int multiprocessors = multiprocessors_of(context);
  const double part = static_cast<double>(row.block.m) * row.block.n * sizeof(float);
  return {.resident = row.resident,
          .start = start_cycles(p, sizeof(float)),
          .k_tile = k_tile_cycles(row),
          .store = store_cycles(row, p),
          .memory = memory_cycles(p, sizeof(float)),
          .add = kAdd * kCyclesAMicrosecond,
          .add_part = part / (kPartBytes * multiprocessors)};
}

StreamK schedule_of(const KernelRow& row, const GemmParams& p, const PlanContext& context) {
  const int ctas = multiprocessors_of(context) * row.resident;
  switch (context.options.cut) {
    case When::kNever:
      return scheduler::data_parallel(p.m, p.n, p.k, row.block, ctas);
    case When::kAlways:
      return scheduler::cut_last_wave(p.m, p.n, p.k, row.block, ctas);
    case When::kModel:
      break;
  }
  return scheduler::choose_stream_k(p.m, p.n, p.k, row.block, ctas, tile_costs(row, p, context));
}

namespace {

// WHY: the schedule is chosen as if all operands came by tensor copies: then it does not depend on
// their alignment, and room for its parts can be asked for before addresses are known.
scheduler::Cycles persistent_cycles(const KernelRow& row, const GemmParams& p,
                                    const PlanContext& context) {
  const StreamK schedule = schedule_of(row, p, context);
  scheduler::TileCosts costs = tile_costs(row, p, context);
  costs.k_tile = own_k_tile_cycles(row);
  return scheduler::predicted(schedule, multiprocessors_of(context) * row.resident, costs);
}

}  // namespace

Prediction predicted(const KernelRow& row, const GemmParams& p, int element_bytes,
                     const PlanContext& context, std::int64_t turned_bytes) {
  if (p.m == 0 || p.n == 0) return {};
  const scheduler::Cycles cycles =
      row.resident == 0 ? rung_cycles(row, p, element_bytes, multiprocessors_of(context))
                        : persistent_cycles(row, p, context);
  const double turn =
      turned_bytes > 0 ? 2 * static_cast<double>(turned_bytes) / kTurnBytes + kTurnLaunch : 0;
  return {.launch = kLaunch,
          .turn = turn,
          .start = cycles.start / kCyclesAMicrosecond,
          .multiply = cycles.multiply / kCyclesAMicrosecond,
          .store = cycles.store / kCyclesAMicrosecond,
          .memory = cycles.memory / kCyclesAMicrosecond,
          .add = cycles.add / kCyclesAMicrosecond};
}

double behind_another(Prediction prediction) {
  prediction.launch = kEarlyLaunch;
  return prediction.total();
}

}  // namespace tessera::catalog
