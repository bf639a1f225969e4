// What a product is expected to cost, part by part: the one model behind the choice of a kernel and
// of its schedule. Constants are measured on an H200 at 1.98 GHz and are in cost.cpp; for other
// GPUs they are proportions.
#pragma once

#include <span>

#include "catalog/catalog.h"
#include "gemm/choose_stream_k.h"
#include "gemm/options.h"
#include "launch/params.h"

namespace tessera::gemm {

// Microseconds.
struct Cost {
  double launch = 0;     // from the end of the call before to the first instruction
  double repack = 0;     // a launch ahead that repacks operands
  double start = 0;      // until the first tile is there
  double multiply = 0;   // waves of tiles, the last one perhaps not full
  double store = 0;      // what storing tiles adds to that
  double memory = 0;     // operands and D through device memory: the least that it takes
  double add = 0;        // a second launch that adds the partials of split tiles
  double remainder = 0;  // launches after these, of what whole tiles do not cover

  bool memory_bound() const { return memory > multiply + store; }
  double total() const {
    return launch + repack + start + (memory_bound() ? memory : multiply + store) + add + remainder;
  }
};

// A config row with its measured rate.
struct RatedRow {
  const KernelRow* row = nullptr;
  double tflops = 0;  // 0: never measured
  int element_bytes = 4;
};

// How the operands reach shared memory, and along which side they are contiguous there.
struct OperandModes {
  Majors majors;
  Loads loads;
};

// A schedule of one product, and what the product costs with it.
struct Scheduled {
  schedule::StreamK schedule;
  Cost cost;
};

// A persistent grid, its schedule as the policy says.
// WHY: the schedule is chosen as if all operands came by tensor copies, so that it does not depend
// on their alignment.
Scheduled cost_of_persistent(const RatedRow& row, const OperandModes& modes,
                             const GemmParams& canonical, const DeviceLimits& limits, Policy split);

// A grid of one block for each tile.
Cost cost_of_tiles(const RatedRow& row, const GemmParams& canonical, int element_bytes,
                   const DeviceLimits& limits);

// What a kernel on tensor cores would do: a persistent grid of one CTA per SM.
struct TensorCoreWork {
  BlockTile block;
  double rate;           // TFLOP/s on a full GPU; 0: unknown
  bool hides_store;      // one tile is stored while the next one is multiplied
  bool copies_d;         // by tensor copies, not row by row
  std::int64_t tiles;    // of all parts of k
  std::int64_t k_tiles;  // of each
  std::int64_t parts;    // matrices of partial sums; 0: none
  std::int64_t repacked_bytes;
  const Types* types;
};
// No part of k is shorter than so many k tiles, where a model chooses: a ring has to be filled.
inline constexpr std::int64_t kLeastKTilesOfAPart = 8;
Cost cost_of_tensor_cores(const TensorCoreWork& work, const GemmParams& canonical,
                          const DeviceLimits& limits);

// A launch that copies operands into another form, so many bytes of them.
double cost_of_repacking(std::int64_t bytes);

// The same launches after others of one plan: they begin while those end.
double after_another(Cost cost);
// No launch after another that multiplies this by one of these rows costs less: its start, and
// every lane busy all the time.
double least_after_another(const GemmParams& canonical, std::span<const RatedRow> rows,
                           const DeviceLimits& limits);

}  // namespace tessera::gemm
