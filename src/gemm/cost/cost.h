// The predicted cost of a product, part by part. This model chooses the kernel and its schedule.
// Its coefficients come from the table of the GPU (cost_table.h).
#pragma once

#include <span>

#include "catalog/catalog.h"
#include "gemm/choose_stream_k.h"
#include "gemm/cost/cost_table.h"
#include "gemm/decision.h"
#include "gemm/options.h"
#include "launch/params.h"

namespace tessera::gemm {

// The parts of a cost, in microseconds.
struct Cost {
  double launch = 0;     // from the end of the previous call to the first instruction
  double repack = 0;     // a launch before the product that repacks operands
  double start = 0;      // until the first tile of operands has arrived
  double multiply = 0;   // waves of tiles; the last one may not be full
  double store = 0;      // stores of tiles, as far as multiplying does not hide them
  double memory = 0;     // a lower bound: operands and D through device memory
  double add = 0;        // a second launch, which adds the partial sums of split tiles
  double remainder = 0;  // later launches, for the part of D that whole tiles do not cover
  double finish = 0;     // a last launch that applies the epilogue

  bool memory_bound() const { return memory > multiply + store; }
  // The cost of `count` products that run one after the other.
  Cost times(double count) const {
    return {launch * count, repack * count, start * count,     multiply * count, store * count,
            memory * count, add * count,    remainder * count, finish * count};
  }
  // The cost of two products that run one after the other.
  Cost operator+(const Cost& other) const {
    return {launch + other.launch,     repack + other.repack,       start + other.start,
            multiply + other.multiply, store + other.store,         memory + other.memory,
            add + other.add,           remainder + other.remainder, finish + other.finish};
  }
  double total() const {
    return launch + repack + start + (memory_bound() ? memory : multiply + store) + add +
           remainder + finish;
  }
};

// 2 if C is read in addition to D, else 1. A C whose row stride is 0 is a bias, and is not counted.
constexpr int matrices_of_outputs(const GemmParams& p) {
  return p.beta != 0 && p.c_row != 0 ? 2 : 1;
}

// A row of a kernel's config table, with its measured rate.
struct RatedRow {
  const KernelRow* row = nullptr;
  double tflops = 0;  // for long products; 0: not measured
  int element_bytes = 4;
  // If D allows no vector stores, its tiles go through shared memory, not through scratch tiles.
  bool stores_through_shared = false;
  PersistentCosts Coefficients::*costs = &Coefficients::simt;  // the costs of the row's family
};

// How A and B are loaded into shared memory, and the index along which each is contiguous.
struct OperandModes {
  Majors majors;
  Loads loads;
};

// A schedule of a product, and the cost of the product with this schedule.
struct Scheduled {
  schedule::StreamK schedule;
  Cost cost;
};

// Which tiles are split along k, and in how many runs: as a policy or a decision says.
struct Splitting {
  Policy policy = Policy::kModel;
  std::int64_t whole_tiles = 0;
  int runs = 0;  // 0: the policy decides

  Splitting(Policy asked) : policy(asked) {}  // NOLINT: a policy is one
  explicit Splitting(const Piece& piece)
      : policy(Policy::kNever), whole_tiles(piece.whole_tiles), runs(piece.runs) {}
};

// The cost of a product on a persistent grid, with the requested split. The split is chosen as if
// TMA loaded all operands, so that it does not depend on their alignment.
Scheduled cost_of_persistent(const RatedRow& row, const OperandModes& modes,
                             const GemmParams& canonical, const DeviceLimits& limits,
                             Splitting split);
// The cost of a batch of `count` products on a persistent grid, as one column of tiles. No tile is
// split, so a product has the same bits at every position of the batch. `has_loading_warps`: some
// warps load the next tile while other warps store a tile.
Scheduled cost_of_batch(const RatedRow& row, const OperandModes& modes, const GemmParams& canonical,
                        const DeviceLimits& limits, std::int64_t count, bool has_loading_warps);

// The cost of a grid with one block for each tile of all `count` products. `ctas`: blocks that run
// at the same time on an SM; 0: as many as a rung of this tile has.
Cost cost_of_tiles(const RatedRow& row, const GemmParams& canonical, int element_bytes,
                   const DeviceLimits& limits, std::int64_t count = 1, int ctas = 0);

// The work of a matrix times vectors. Each pass over the matrix serves `at_once` vectors.
struct VectorWork {
  std::int64_t outputs, k;
  std::int64_t vectors, passes;  // of all products of a batch
  std::int64_t blocks;           // of all passes
  int access_bytes;              // per load of the matrix
  int element_bytes;
  int at_once;  // vectors that a pass serves
  bool on_tensor_cores;
  int ctas;            // blocks that run at the same time on one SM
  double bytes_ahead;  // bytes in flight per block
};
Cost cost_of_vectors(const VectorWork& work, const DeviceLimits& limits);
// The microseconds that depend on the division of the matrix among blocks.
double time_of_blocks(const VectorWork& work, const DeviceLimits& limits);

// A BF16 matrix times FP32 rows. A CTA reads a line of the matrix once for `rows_of_cta` rows.
struct MixedWork {
  std::int64_t lines, rows, k, products;
  int rows_of_cta;
  double rate;           // TFLOP/s on a full GPU; 0: unknown
  std::int64_t warps;    // in all CTAs
  double warps_to_fill;  // warps per SM that reach the full rate
  bool is_in_clusters;
  bool is_by_elements;  // the BF16 matrix is loaded element by element
  bool has_whole_rows;  // the FP32 rows are loaded in pieces of 16 bytes
};
Cost cost_of_mixed(const MixedWork& work, const DeviceLimits& limits);

// The work of a batch of small products. Teams of warps process tiles one after the other.
struct SmallWork {
  BlockTile block;
  double rate;            // TFLOP/s on a full GPU, for long products; 0: unknown
  std::int64_t products;  // in the batch; 1 without a batch
  int element_bytes;      // per element of A and B
  int d_bytes;            // per element of D
  bool is_aligned;        // operands are copied in pieces of 16 bytes
  int teams;              // teams per SM; each has a tile
  int team_threads;       // threads per team
};
Cost cost_of_small(const SmallWork& work, const GemmParams& canonical, const DeviceLimits& limits);

// The properties of an operand that affect the speed of its tensor copies.
struct CopiedOperand {
  bool is_along_k = true;
  bool is_from_registers = false;  // wgmma takes the operand from registers
  int row_bytes = 128;             // bytes: the largest power of two in the row stride, up to 128
  int sharers = 1;                 // CTAs that load one tile together, by multicast
};

// The work of a persistent grid that multiplies on tensor cores.
struct TensorCoreWork {
  BlockTile block;
  int per_sm;                // CTAs per SM; each has a tile
  double rate;               // TFLOP/s on a full GPU; 0: unknown
  bool hides_store;          // a tile is stored while the next tile is multiplied
  bool copies_d;             // tensor copies store D; else threads store D row by row
  int stages;                // of the ring of a CTA
  bool is_of_one_warpgroup;  // each tile is multiplied by one warpgroup
  CopiedOperand a, b;
  int d_row_bytes;        // like CopiedOperand::row_bytes, for D
  std::int64_t tiles_m;   // rows of tiles of one product
  std::int64_t products;  // in the batch; 1 without a batch
  std::int64_t tiles;     // of all products and parts of k
  std::int64_t k_tiles;   // k tiles that each tile sums
  std::int64_t parts;     // parts of k with partial sums; 0: k is not cut
  // Bytes that a launch before the product writes: copies of operands, and maps of listed matrices.
  std::int64_t repacked_bytes;
  bool is_listed;  // the matrices of the batch are at listed addresses
  const Types* types;
};
// The fewest k tiles in a part of k that the model may choose. Shorter parts do not fill the ring.
inline constexpr std::int64_t kLeastKTilesOfAPart = 8;
Cost cost_of_tensor_cores(const TensorCoreWork& work, const GemmParams& canonical,
                          const DeviceLimits& limits);

// The microseconds of a launch that repacks `bytes` bytes of operands.
double cost_of_repacking(std::int64_t bytes, const DeviceLimits& limits);

// The microseconds of a launch after a product. `bytes`: sums and C that it reads, plus D.
double cost_of_finishing(double bytes, const DeviceLimits& limits);

// The microseconds of a launch that follows others of its plan, and starts while they end.
double after_another(Cost cost, const DeviceLimits& limits);
// A lower bound, in microseconds, for any launch that multiplies `canonical` by one of these rows
// after another launch: its start, and then all lanes busy.
double least_after_another(const GemmParams& canonical, std::span<const RatedRow> rows,
                           const DeviceLimits& limits);

}  // namespace tessera::gemm
