// Products of operands in two terms, summed as accurately as FP32 adds. HW: a tensor core cuts the
// factors of every step and its sum, always towards zero, and a long chain of them drifts. So
// chains are short, 32 of k, and ordinary adds put their sums to master sums: they are *promoted*.
// Two warpgroups take turns: one promotes while the chains of the other keep the tensor cores busy.
//
// WHY 32: of positive numbers, chains of 64 end 3.1 u low in the mean, twice what FP32 loses by
// sums of 256; chains of 32 end 1.3 u low. TRIED (simulated): a next chain that returns to zero,
// and high terms of 10 bits: 2.8 u and 2.1 u, since the factors are cut, not the sums alone.
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

  // The six steps of a chain, the small products first: kept in flight.
  template <class Sums>
  __device__ void multiply_terms(Sums& chain) const {
    multiply<kLow, kHigh>(chain, true);
    multiply<kHigh, kLow>(chain);
    multiply<kHigh, kHigh>(chain);
  }
};

template <class Sums>
__device__ void promote(Sums& master, const Sums& chain) {
#pragma unroll
  for (int i = 0; i < Sums::kCount; ++i) master.sum[0][0][i] += chain.sum[0][0][i];
}

// A warpgroup: master = its rows of A (from `row` of the tile on) times B. A turn is `chains`
// stages, a chain each; `stages` is a multiple of it. `waits`: whether the first turn is waited
// for, which the other warpgroup passes on once its chains have started. All later ones are.
// `release(stage)`: this warp no longer reads the stage.
template <class TileA, class TileB, int chains, class Sums, class Ring, class Release>
__device__ void multiply_promoted(Sums& master, Ring& ring, pipeline::Position<Ring::kStages>& at,
                                  int stages, int row, int consumer, bool& waits, Release release) {
  const std::uint64_t a = TileA::descriptor(ptx::shared_address(ring.a)) + TileA::step(row, 0);
  const std::uint64_t b = TileB::descriptor(ptx::shared_address(ring.b));
  Sums chain[chains];
#pragma unroll
  for (int i = 0; i < Sums::kCount; ++i) master.sum[0][0][i] = 0;
#pragma unroll 1
  for (int stage = 0; stage < stages; stage += chains) {
    auto in_flight = at;
    if (waits) pipeline::Turns::wait(consumer);
    waits = true;
    TermStage<TileA, TileB> terms[chains];
#pragma unroll
    for (TermStage<TileA, TileB>& one : terms) {
      ring.wait(at);
      one = {a + at.stage * (TileA::kBytes >> 4), b + at.stage * (TileB::kBytes >> 4)};
      at.advance();
    }
#pragma unroll
    for (Sums& one : chain) one.pin();
    ptx::wgmma_fence();
#pragma unroll
    for (int i = 0; i < chains; ++i) terms[i].multiply_terms(chain[i]);
    ptx::wgmma_commit_group();
    pipeline::Turns::pass_to(1 - consumer);
    ptx::wgmma_wait_group<0>();
#pragma unroll
    for (Sums& one : chain) {
      one.pin();
      release(in_flight.stage);
      in_flight.advance();
      promote(master, one);
    }
  }
}

}  // namespace tessera::mainloop
