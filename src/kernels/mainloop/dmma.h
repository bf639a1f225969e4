// Multiplies tiles in shared memory into sums in registers, on the FP64 tensor cores. The warps
// that multiply also copy: a matrix instruction occupies the pipe for 16 to 64 cycles, which leaves
// issue slots. Fragments are loaded one step ahead of the instructions that read them.
#pragma once

#include <cuda/std/type_traits>

#include "kernels/pipeline/cp_async_ring.h"
#include "kernels/tile/dmma_accumulators.h"

namespace tessera::mainloop {

// The config `cfg` must have: block, stages, instruction, ahead, majors, threads(), rows(),
// columns(), exchanges(), loads_elements(), has_registers_left().
template <auto cfg>
struct DmmaStage {
  using Swizzle =
      cuda::std::conditional_t<cfg.loads_elements(), tile::ElementSwizzle, tile::VectorSwizzle>;
  using A = tile::SwizzledTile<double, cfg.block.m, cfg.block.k, cfg.majors.a, Swizzle>;  // (m, k)
  using B = tile::SwizzledTile<double, cfg.block.n, cfg.block.k, cfg.majors.b, Swizzle>;  // (n, k)
  static constexpr int kDepth = cfg.block.k;

  A a;
  B b;
};

template <auto cfg>
using DmmaAccumulators = tile::DmmaAccumulators<cfg.rows(), cfg.columns(), cfg.exchanges()>;

// Multiplies a warp's part of the tiles in a ring.
template <auto cfg, class Ring>
class DmmaMainloop {
 public:
  // (row, col) is the origin of the warp's tile in the block's tile.
  __device__ DmmaMainloop(DmmaAccumulators<cfg>& sums, Ring& ring, int row, int col)
      : sums_(sums),
        ring_(ring),
        at_a_(FragmentsA::offset_of(threadIdx.x % 32, cfg.exchanges() ? col : row)),
        at_b_(FragmentsB::offset_of(threadIdx.x % 32, cfg.exchanges() ? row : col)) {}

  // Adds A * B to `sums` for all tiles of the ring.
  __device__ void multiply() {
#pragma unroll
    for (int i = 0; i < kAhead; ++i) load(i);
#pragma unroll 1
    while (ring_.has_tile() && ring_.next_is_whole()) multiply_tile<Next::kWhole>();
#pragma unroll 1
    while (ring_.has_tile() && (!kEndsAlone || ring_.has_next())) multiply_tile<Next::kGuarded>();
    if constexpr (kEndsAlone) {
#pragma unroll 1
      while (ring_.has_tile()) multiply_tile<Next::kNone>();
    }
    ring_.drain();
  }

 private:
  using Stage = DmmaStage<cfg>;
  // The operands of the instructions, which are exchanged if cfg.exchanges().
  using A = cuda::std::conditional_t<cfg.exchanges(), typename Stage::B, typename Stage::A>;
  using B = cuda::std::conditional_t<cfg.exchanges(), typename Stage::A, typename Stage::B>;
  __device__ static const A& a_of(const Stage& stage) {
    if constexpr (cfg.exchanges()) return stage.b;
    if constexpr (!cfg.exchanges()) return stage.a;
  }
  __device__ static const B& b_of(const Stage& stage) {
    if constexpr (cfg.exchanges()) return stage.a;
    if constexpr (!cfg.exchanges()) return stage.b;
  }
  // A tile is multiplied in steps of k, a step in parts of sixteen columns.
  static constexpr int kDepth = tile::dmma_depth(cfg.instruction);
  static constexpr int kColumns = cfg.columns() / tile::kDmmaOuter;
  static constexpr int kSteps = cfg.block.k / kDepth, kAll = kSteps * kColumns;
  static constexpr int kAhead = cfg.ahead;  // steps from a load to its use
  static constexpr int kSetsB = 2 * kAhead;
  using FragmentsA =
      tile::DmmaFragments<A, cfg.rows() / tile::kDmmaOuter, kDepth, cfg.loads_elements()>;
  using FragmentsB = tile::DmmaFragments<B, 1, kDepth, cfg.loads_elements()>;
  static_assert(kSteps % 2 == 0 && kAll % kSetsB == 0);

  // Loads the fragments for part `i`; parts from kAll on belong to the tile after the current one.
  __device__ void load(int i) {
    const int at = i % kAll, step = at / kColumns;
    b_[at % kSetsB].load(b_of(ring_.current()), at_b_, at % kColumns, step);
    if (at % kColumns == 0) a_[step % 2].load(a_of(ring_.current()), at_a_, 0, step);
  }

  // The kind of tile that is copied during the multiplication. WHY kNone has its own loop: if k is
  // short, most tiles are multiplied without copies, because the ring has loaded all tiles ahead.
  enum class Next { kWhole, kGuarded, kNone };
  static constexpr bool kEndsAlone = cfg.has_registers_left();

  // Multiplies one tile. Copies of another tile are spread over all parts before finish_next().
  template <Next next>
  __device__ void multiply_tile() {
#pragma unroll
    for (int i = 0; i < kAll; ++i) {
      if constexpr (next == Next::kNone) {
        if (i == 0) ring_.start_nothing();
      } else if (i < kAll - kAhead) {
        ring_.template start_next<next == Next::kWhole>(i, kAll - kAhead);
      }
      if (i == kAll - kAhead) ring_.finish_next();
      load(i + kAhead);
      sums_.template multiply_add<cfg.instruction>(i % kColumns, a_[i / kColumns % 2],
                                                   b_[i % kSetsB]);
    }
  }

  DmmaAccumulators<cfg>& sums_;
  Ring& ring_;
  int at_a_, at_b_;
  // Fragments of A for even and odd steps; fragments of B for the parts in flight.
  FragmentsA a_[2];
  FragmentsB b_[kSetsB];
};

}  // namespace tessera::mainloop
