// Products of operands in two terms, summed as accurately as FP32 adds. HW: a tensor core cuts the
// sum of every step, always towards zero, and a long chain of them drifts. So chains are short, 64
// of k, and ordinary adds put their sums to master sums: they are *promoted*. Two warpgroups take
// turns: one promotes while the chain of the other keeps the tensor cores busy.
//
// Floors, measured before this was built: docs/tensor-arithmetic.md.
#pragma once

#include <cstdint>

#include "kernels/pipeline/mbarrier_ring.h"
#include "kernels/pipeline/turns.h"
#include "kernels/ptx/fence.h"
#include "kernels/ptx/wgmma.h"
#include "kernels/tile/accumulators.h"

namespace tessera::mainloop {

// The tiles of one stage, by descriptor: rows of high terms and then as many low ones.
template <class TileA, class TileB>
struct TermStage {
  static constexpr int kHigh = 0, kLow = TileA::kK / 2;
  static constexpr int kStep = ptx::kWgmmaK<TileA::kType>;
  static_assert(TileA::kKMajor && TileB::kKMajor && TileA::kK == TileB::kK);
  static_assert(TileA::kK == TileA::kRow, "both terms in one row");

  std::uint64_t a, b;

  // chain (+)= one term of A times one of B, all k of the stage. `first`: the chain begins here.
  template <int of_a, int of_b, class Sums>
  __device__ void multiply(Sums& chain, bool first = false) const {
    static_assert(Sums::kTilesM == 1 && Sums::kTilesN == 1);
#pragma unroll
    for (int k = 0; k < kLow; k += kStep) {
      ptx::wgmma<TileA::kType, TileA::kMajor, TileB::kMajor>(
          chain.sum[0][0], a + TileA::step(0, of_a + k), b + TileB::step(0, of_b + k),
          k > 0 || !first);
    }
  }
};

// The twelve steps of a chain, the small products first: kept in flight. `wait_second()` is called
// before the second stage is read.
template <class Stage, class Sums, class WaitSecond>
__device__ void multiply_chain(Sums& chain, const Stage& first, const Stage& second,
                               WaitSecond wait_second) {
  constexpr int kHigh = Stage::kHigh, kLow = Stage::kLow;
  first.template multiply<kLow, kHigh>(chain, true);
  first.template multiply<kHigh, kLow>(chain);
  wait_second();
  second.template multiply<kLow, kHigh>(chain);
  second.template multiply<kHigh, kLow>(chain);
  first.template multiply<kHigh, kHigh>(chain);
  second.template multiply<kHigh, kHigh>(chain);
  ptx::wgmma_commit_group();
}

template <class Sums>
__device__ void promote(Sums& master, const Sums& chain) {
#pragma unroll
  for (int i = 0; i < Sums::kCount; ++i) master.sum[0][0][i] += chain.sum[0][0][i];
}

// A warpgroup: master = its rows of A (from `row` of the tile on) times B. `stages` is even.
// `waits`: whether the first chain waits for its turn, which the other warpgroup passes on once it
// has started one. All later chains wait. `release(stage)`: this warp no longer reads the stage.
template <class TileA, class TileB, class Sums, class Ring, class Release>
__device__ void multiply_promoted(Sums& master, Ring& ring, pipeline::Position<Ring::kStages>& at,
                                  int stages, int row, int consumer, bool& waits, Release release) {
  const std::uint64_t a = TileA::descriptor(ptx::shared_address(ring.a)) + TileA::step(row, 0);
  const std::uint64_t b = TileB::descriptor(ptx::shared_address(ring.b));
  using Stage = TermStage<TileA, TileB>;
  const auto stage_at = [&](int stage) {
    return Stage{a + stage * (TileA::kBytes >> 4), b + stage * (TileB::kBytes >> 4)};
  };
  Sums chain;
#pragma unroll
  for (int i = 0; i < Sums::kCount; ++i) master.sum[0][0][i] = 0;
#pragma unroll 1
  for (int stage = 0; stage < stages; stage += 2) {
    const auto first = at;
    at.advance();
    const auto second = at;
    at.advance();
    if (waits) pipeline::Turns::wait(consumer);
    waits = true;
    ring.wait(first);
    chain.pin();
    ptx::wgmma_fence();
    multiply_chain(chain, stage_at(first.stage), stage_at(second.stage),
                   [&] { ring.wait(second); });
    pipeline::Turns::pass_to(1 - consumer);
    ptx::wgmma_wait_group<0>();
    chain.pin();
    release(first.stage);
    release(second.stage);
    promote(master, chain);
  }
}

}  // namespace tessera::mainloop
