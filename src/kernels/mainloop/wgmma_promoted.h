// Multiplies operands that are split into two terms, with sums as accurate as FP32 additions. HW: a
// tensor core truncates the products and the sum of every step towards zero, so a long chain of
// MMAs drifts. Chains of products of high terms are therefore short, 32 k, and ordinary additions
// add their sums to master sums: they are *promoted*. Meanwhile the tensor cores multiply the
// products with a low term. These have a separate chain, because low terms are multiplied by a
// power of two; this chain may be long, because its sums are 2^-12 of the high sums.
//
// WHY 32: for positive numbers, chains of 64 end 3.1 u low on average, twice the loss of FP32 in
// sums of 256; chains of 32 end 1.3 u low. TRIED (simulated): a next chain that returns to zero,
// and high terms of 10 bits: 2.8 u and 2.1 u, because products are truncated too, not only sums.
//
// TRIED (H100): one chain for all products, and two alternating warpgroups (rung 47). In tiles of
// 128x192 this is faster at 8192, but numbers 2^20 below the largest of their row lose digits.
//
// The speed of such main loops, measured before this was built: docs/tensor-arithmetic.md.
#pragma once

#include <cstdint>

#include "kernels/pipeline/mbarrier_ring.h"
#include "kernels/ptx/fence.h"
#include "kernels/ptx/wgmma.h"
#include "kernels/tile/accumulators.h"

namespace tessera::mainloop {

// The chain of products with a low term ("mixed") is promoted after this many stages.
inline constexpr int kMixedStages = 128;

// The descriptors of one stage's tiles. Each row has high terms, then the same number of low terms.
template <class TileA, class TileB>
struct TermStage {
  static constexpr int kHigh = 0, kLow = TileA::kK / 2;
  static constexpr int kStep = ptx::kWgmmaK<TileA::kType>;
  static_assert(TileA::kKMajor && TileB::kKMajor && TileA::kK == TileB::kK);
  static_assert(TileA::kK == TileA::kRow, "both terms in one row");

  // WHY 32-bit halves: a step changes only a descriptor's lower half; 64-bit additions cost more.
  std::uint32_t a, b, a_high, b_high;

  __device__ TermStage(std::uint64_t of_a, std::uint64_t of_b, int stage)
      : a(static_cast<std::uint32_t>(of_a) + stage * (TileA::kBytes >> 4)),
        b(static_cast<std::uint32_t>(of_b) + stage * (TileB::kBytes >> 4)),
        a_high(static_cast<std::uint32_t>(of_a >> 32)),
        b_high(static_cast<std::uint32_t>(of_b >> 32)) {}

  __device__ static std::uint64_t whole(std::uint32_t high, std::uint32_t low) {
    return std::uint64_t{high} << 32 | low;
  }

  // Adds one term of A times one term of B to `chain`, over the stage's k. `first`: a new chain.
  template <int of_a, int of_b, class Sums>
  __device__ void multiply(Sums& chain, bool first = false) const {
    static_assert(Sums::kTilesM == 1 && Sums::kTilesN == 1);
#pragma unroll
    for (int k = 0; k < kLow; k += kStep) {
      ptx::wgmma<TileA::kType, TileA::kMajor, TileB::kMajor>(
          chain.sum[0][0], whole(a_high, a + static_cast<std::uint32_t>(TileA::step(0, of_a + k))),
          whole(b_high, b + static_cast<std::uint32_t>(TileB::step(0, of_b + k))), k > 0 || !first);
    }
  }

  template <class Sums>
  __device__ void multiply_high(Sums& chain) const {
    multiply<kHigh, kHigh>(chain, true);
  }
  template <class Sums>
  __device__ void multiply_mixed(Sums& chain, bool first) const {
    multiply<kLow, kHigh>(chain, first);
    multiply<kHigh, kLow>(chain);
  }
};

template <class Sums>
__device__ void promote(Sums& master, const Sums& chain, float factor = 1) {
#pragma unroll
  for (int i = 0; i < Sums::kCount; ++i) {
    master.sum[0][0][i] = fmaf(factor, chain.sum[0][0][i], master.sum[0][0][i]);
  }
}

// A warpgroup computes master = its rows of A (from `row` of the tile on) times B. Low terms are
// scaled by 2^low_exponent. `release(stage)` is called when this warp no longer reads the stage.
template <class TileA, class TileB, int low_exponent, class Sums, class Ring, class Release>
__device__ void multiply_promoted(Sums& master, Ring& ring, pipeline::Position<Ring::kStages>& at,
                                  int stages, int row, Release release) {
  constexpr float kLowFactor = 1.0f / (1 << low_exponent);
  const std::uint64_t a = TileA::descriptor(ptx::shared_address(ring.a)) + TileA::step(row, 0);
  const std::uint64_t b = TileB::descriptor(ptx::shared_address(ring.b));
  Sums high, mixed;
#pragma unroll
  for (float& sum : master.sum[0][0]) sum = 0;
#pragma unroll 1
  for (int first = 0; first < stages; first += kMixedStages) {
    const int end = min(first + kMixedStages, stages);
    int previous = 0;
#pragma unroll 1
    for (int stage = first; stage < end; ++stage, at.advance()) {
      ring.wait(at);
      high.pin();
      if (stage == first) mixed.pin();
      ptx::wgmma_fence();
      const TermStage<TileA, TileB> terms(a, b, at.stage);
      terms.multiply_high(high);
      ptx::wgmma_commit_group();
      terms.multiply_mixed(mixed, stage == first);
      ptx::wgmma_commit_group();
      ptx::wgmma_wait_group<1>();
      high.pin();
      if (stage > first) release(previous);
      previous = at.stage;
      promote(master, high);
    }
    ptx::wgmma_wait_group<0>();
    mixed.pin();
    release(previous);
    promote(master, mixed, kLowFactor);
  }
}

}  // namespace tessera::mainloop
