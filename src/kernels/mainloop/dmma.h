// Tiles in shared memory -> sums in registers, by the FP64 tensor cores. The warps that multiply
// also copy: a matrix instruction keeps the pipe busy for 16 to 64 cycles, so there are issue slots
// to spare. Fragments are loaded one step ahead of the instructions that read them.
#pragma once

#include <cuda/std/type_traits>

#include "kernels/pipeline/cp_async_ring.h"
#include "kernels/tile/dmma_accumulators.h"

namespace tessera::mainloop {

// `cfg` says: block, stages, instruction, ahead, majors, threads(), rows(), columns(), exchanges(),
// loads_elements(), has_registers_left().
template <auto cfg>
struct DmmaStage {
  using A = tile::SwizzledTile<double, cfg.block.m, cfg.block.k, cfg.majors.a>;  // (m, k)
  using B = tile::SwizzledTile<double, cfg.block.n, cfg.block.k, cfg.majors.b>;  // (n, k)
  static constexpr int kDepth = cfg.block.k;

  A a;
  B b;
};

template <auto cfg>
using DmmaAccumulators = tile::DmmaAccumulators<cfg.rows(), cfg.columns(), cfg.exchanges()>;

// The warp's part of the work on tiles in a ring.
template <auto cfg, class Ring>
class DmmaMainloop {
 public:
  // (row, col): the warp's tile in the block's.
  __device__ DmmaMainloop(DmmaAccumulators<cfg>& sums, Ring& ring, int row, int col)
      : sums_(sums),
        ring_(ring),
        at_a_(tile::DmmaLoads<A>::lane_offset(threadIdx.x % 32, cfg.exchanges() ? col : row)),
        at_b_(tile::DmmaLoads<B>::lane_offset(threadIdx.x % 32, cfg.exchanges() ? row : col)) {}

  // sums += A * B of the block's tile, for all tiles of the ring.
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
  // The operands of the instructions.
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
  // A tile is multiplied in steps of k, and those in sixteen columns at a time.
  static constexpr int kDepth = tile::dmma_depth(cfg.instruction);
  static constexpr int kColumns = cfg.columns() / tile::kDmmaOuter;
  static constexpr int kSteps = cfg.block.k / kDepth, kAll = kSteps * kColumns;
  static constexpr int kAhead = cfg.ahead;  // steps from a load to its use
  static constexpr int kSetsB = 2 * kAhead;
  static_assert(kSteps % 2 == 0 && kAll % kSetsB == 0);

  // The fragments for step `i`, of the tile after the current one from kAll on.
  __device__ void load(int i) {
    const int at = i % kAll, step = at / kColumns;
    b_[at % kSetsB].load(b_of(ring_.current()), at_b_, at % kColumns, step);
    if (at % kColumns == 0) a_[step % 2].load(a_of(ring_.current()), at_a_, 0, step);
  }

  // What is copied meanwhile. WHY a loop of its own without copies: a product that is short in k
  // multiplies as many tiles in it as the ring has ahead.
  enum class Next { kWhole, kGuarded, kNone };
  static constexpr bool kEndsAlone = cfg.has_registers_left();

  // The copies of another tile are spread over the steps until the next one is waited for.
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
  // Of odd and even steps.
  tile::DmmaFragments<A, cfg.rows() / tile::kDmmaOuter, kDepth, cfg.loads_elements()> a_[2];
  tile::DmmaFragments<B, 1, kDepth> b_[kSetsB];
};

}  // namespace tessera::mainloop
