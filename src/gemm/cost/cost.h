// The expected cost of a product, part by part. This model chooses the kernel and its schedule. Its
// coefficients come from the GPU's table (cost_table.h).
#pragma once

#include <span>

#include "catalog/catalog.h"
#include "gemm/choose_stream_k.h"
#include "gemm/cost/cost_table.h"
#include "gemm/decision.h"
#include "gemm/options.h"
#include "launch/params.h"

namespace tessera::gemm {

// Microseconds.
struct Cost {
  double launch = 0;     // from the end of the previous call to the first instruction
  double repack = 0;     // a launch before the product that repacks operands
  double start = 0;      // until the first tile has arrived
  double multiply = 0;   // waves of tiles; the last one may not be full
  double store = 0;      // stores of tiles, as far as they are not hidden
  double memory = 0;     // operands and D through device memory: a lower bound
  double add = 0;        // a second launch that adds the partials of split tiles
  double remainder = 0;  // later launches, for the part of D that whole tiles do not cover
  double finish = 0;     // a last launch that applies the epilogue

  bool memory_bound() const { return memory > multiply + store; }
  // The cost of `count` products, one after the other.
  Cost times(double count) const {
    return {launch * count, repack * count, start * count,     multiply * count, store * count,
            memory * count, add * count,    remainder * count, finish * count};
  }
  // One after the other.
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

// 2 if C is read in addition to D, else 1. A C with a row stride of 0 is a bias and does not count.
constexpr int matrices_of_outputs(const GemmParams& p) {
  return p.beta != 0 && p.c_row != 0 ? 2 : 1;
}

// A config row with its measured rate.
struct RatedRow {
  const KernelRow* row = nullptr;
  double tflops = 0;  // 0: never measured
  int element_bytes = 4;
  // A D that allows no vectors is stored through shared memory, not through scratch tiles.
  bool stores_through_shared = false;
  PersistentCosts Coefficients::*costs = &Coefficients::simt;  // those of the kernel's family
};

// How the operands are loaded into shared memory, and along which index they are contiguous.
struct OperandModes {
  Majors majors;
  Loads loads;
};

// A schedule of one product, and the product's cost with it.
struct Scheduled {
  schedule::StreamK schedule;
  Cost cost;
};

// The choice of tiles that are split along k: by a policy, or given by a decision.
struct Splitting {
  Policy policy = Policy::kModel;
  std::int64_t whole_tiles = 0;
  int runs = 0;  // 0: the policy

  Splitting(Policy asked) : policy(asked) {}  // NOLINT: a policy is one
  explicit Splitting(const Piece& piece)
      : policy(Policy::kNever), whole_tiles(piece.whole_tiles), runs(piece.runs) {}
};

// The cost of a persistent grid, with the requested schedule. The schedule is chosen as if TMA
// loaded all operands, so that it does not depend on their alignment.
Scheduled cost_of_persistent(const RatedRow& row, const OperandModes& modes,
                             const GemmParams& canonical, const DeviceLimits& limits,
                             Splitting split);
// The same for a batch of `count` products, whose tiles form one column. No tile is split, so that
// a product gets the same bits at every position of the batch. `has_loading_warps`: some warps load
// the next tile while the others store one.
Scheduled cost_of_batch(const RatedRow& row, const OperandModes& modes, const GemmParams& canonical,
                        const DeviceLimits& limits, std::int64_t count, bool has_loading_warps);

// The cost of a grid with one block for each tile of all products. `ctas` run at the same time on
// one SM (0: as many as for rungs).
Cost cost_of_tiles(const RatedRow& row, const GemmParams& canonical, int element_bytes,
                   const DeviceLimits& limits, std::int64_t count = 1, int ctas = 0);

// The work of a matrix times vectors. Each pass reads the matrix once, for `at_once` vectors.
struct VectorWork {
  std::int64_t outputs, k;
  std::int64_t vectors, passes;  // over all products of a batch
  std::int64_t blocks;           // over all passes
  int access_bytes;              // per load of the matrix
  int element_bytes;
  int at_once;  // vectors per pass
  bool on_tensor_cores;
  int ctas;            // blocks that run at the same time on one SM
  double bytes_ahead;  // bytes in flight per block
};
Cost cost_of_vectors(const VectorWork& work, const DeviceLimits& limits);
// The part of the cost that depends on the division of the matrix among blocks.
double time_of_blocks(const VectorWork& work, const DeviceLimits& limits);

// A BF16 matrix that is multiplied with rows of FP32. A CTA reads its lines once for `rows_of_cta`.
struct MixedWork {
  std::int64_t lines, rows, k, products;
  int rows_of_cta;
  double rate;           // TFLOP/s on a full GPU; 0: unknown
  std::int64_t warps;    // in all CTAs
  double warps_to_fill;  // per SM, with which it multiplies at full rate
  bool is_in_clusters;
  bool is_by_elements;  // the BF16 matrix is read by single elements
  bool has_whole_rows;  // the FP32 rows are read by 16 bytes
};
Cost cost_of_mixed(const MixedWork& work, const DeviceLimits& limits);

// Tiles of small products, which teams of warps process one after the other.
struct SmallWork {
  BlockTile block;
  double rate;            // TFLOP/s on a full GPU, for long products; 0: unknown
  std::int64_t products;  // in the batch; 1 without a batch
  int element_bytes;      // per element of A and B
  int d_bytes;            // per element of D
  bool is_aligned;        // operands are copied by 16 bytes
  int teams;              // per SM, each with a tile
  int team_threads;       // threads per team
};
Cost cost_of_small(const SmallWork& work, const GemmParams& canonical, const DeviceLimits& limits);

// The properties of an operand that determine the speed of its tensor copies.
struct CopiedOperand {
  bool is_along_k = true;
  bool is_from_registers = false;  // wgmma takes it from there
  int row_bytes = 128;             // the largest power of two in the stride of its rows, up to 128
};

// The work of a kernel on tensor cores: a persistent grid of one CTA per SM.
struct TensorCoreWork {
  BlockTile block;
  int per_sm;                // CTAs per SM, each with a tile
  double rate;               // TFLOP/s on a full GPU; 0: unknown
  bool hides_store;          // one tile is stored while the next one is multiplied
  bool copies_d;             // tensor copies store D; else it is stored row by row
  int stages;                // in a CTA's ring
  bool is_of_one_warpgroup;  // one warpgroup multiplies a tile
  CopiedOperand a, b;
  int d_row_bytes;        // the same for D as CopiedOperand::row_bytes
  std::int64_t tiles_m;   // rows of tiles of one product
  std::int64_t products;  // in the batch; 1 without a batch
  std::int64_t tiles;     // over all products and parts of k
  std::int64_t k_tiles;   // per tile
  std::int64_t parts;     // matrices of partial sums; 0: none
  std::int64_t repacked_bytes;
  const Types* types;
};
// The fewest k tiles in a part of k that a model may choose: a shorter part does not fill the ring.
inline constexpr std::int64_t kLeastKTilesOfAPart = 8;
Cost cost_of_tensor_cores(const TensorCoreWork& work, const GemmParams& canonical,
                          const DeviceLimits& limits);

// The cost of a launch that repacks this many bytes of operands.
double cost_of_repacking(std::int64_t bytes, const DeviceLimits& limits);

// The cost of a launch after a product; `bytes`: sums and C that it reads, and D that it writes.
double cost_of_finishing(double bytes, const DeviceLimits& limits);

// The cost of a launch that follows others of its plan, and starts while they end.
double after_another(Cost cost, const DeviceLimits& limits);
// A lower bound of any launch after another that multiplies this by one of these rows: its start,
// and then every lane busy all the time.
double least_after_another(const GemmParams& canonical, std::span<const RatedRow> rows,
                           const DeviceLimits& limits);

}  // namespace tessera::gemm
