// The loops of wgmma kernels: the producer's loop loads the k tiles of one output tile into a ring,
// the consumer's loop multiplies the stages of the ring.
#pragma once

#include <cuda/std/type_traits>

#include "kernels/copy/tma.h"
#include "kernels/pipeline/mbarrier_ring.h"
#include "kernels/ptx/fence.h"
#include "kernels/ptx/wgmma.h"
#include "kernels/tile/accumulators.h"
#include "kernels/tile/coord.h"
#include "kernels/tile/wgmma_fragments.h"

namespace tessera::mainloop {

// The shares of A's and B's tiles that one CTA loads for itself and its partners.
struct Shares {
  copy::Share a, b;
};

// The indices of A and B in a batch.
struct Products {
  int a, b;
};

// One thread loads the k tiles of one output tile, from first_k_tile on. LoadA and LoadB are
// copy::TmaTile; maps of a batch have rank 3. `threads_read`: threads, too, read the shared tiles.
template <class LoadA, class LoadB, int rank, bool threads_read, class Ring>
__device__ void load_tiles(Ring& ring, pipeline::Position<Ring::kStages>& at, const TensorMap& a,
                           const TensorMap& b, tile::Coord<> corner, int first_k_tile, int k_tiles,
                           Shares shares, Products products) {
  constexpr int kDepth = Ring::A::kK;
#pragma unroll 1
  for (int tile = first_k_tile; tile < first_k_tile + k_tiles; ++tile, at.advance()) {
    ring.acquire(at);
    if (threads_read) ptx::fence_proxy_async_shared();
    ptx::Mbarrier& loaded = ring.tile_loaded[at.stage];
    LoadA::template load<rank>(ring.a[at.stage], a, corner.m, tile * kDepth, loaded, shares.a,
                               products.a);
    LoadB::template load<rank>(ring.b[at.stage], b, corner.n, tile * kDepth, loaded, shares.b,
                               products.b);
  }
}

// Starts the products of one stage, over all of its k. Does not wait for them.
template <class TileA, class TileB, class Sums>
__device__ void multiply_stage(Sums& sums, std::uint64_t a, std::uint64_t b, bool first) {
  constexpr int kStep = ptx::kWgmmaK<TileA::kType>;
#pragma unroll
  for (int k = 0; k < TileA::kK; k += kStep) {
#pragma unroll
    for (int i = 0; i < Sums::kTilesM; ++i) {
#pragma unroll
      for (int j = 0; j < Sums::kTilesN; ++j) {
        ptx::wgmma<TileA::kType, TileA::kMajor, TileB::kMajor>(
            sums.sum[i][j], a + TileA::step(i * tile::kWgmmaM, k), b + TileB::step(j * Sums::kN, k),
            k > 0 || !first);
      }
    }
  }
  ptx::wgmma_commit_group();
}

struct Nothing {
  __device__ void operator()() const {}
};

// A warpgroup computes sums = its rows of A (from `row` of the tile on) times B, over all k tiles.
// At least one k tile is required. TRIED: clearing the sums if there is none: ptxas then serialises
// wgmma, and the kernel is slow. One stage stays in flight, so a stage is released after the next
// stage has been started. `release(stage)` is called when this warp no longer reads the stage,
// `last_started()` after the last wgmma has been started, and `under_way()` after the first k
// tiles, when stores of the previous tile have usually ended. TRIED: a condition for under_way()
// inside the loop: slower.
template <class TileA, class TileB, class Sums, class Ring, class Release, class LastStarted,
          class UnderWay = Nothing>
__device__ void multiply_tiles(Sums& sums, Ring& ring, pipeline::Position<Ring::kStages>& at,
                               int k_tiles, int row, Release release, LastStarted last_started,
                               UnderWay under_way = {}) {
  const std::uint64_t a = TileA::descriptor(ptx::shared_address(ring.a)) + TileA::step(row, 0);
  const std::uint64_t b = TileB::descriptor(ptx::shared_address(ring.b));
  int previous = 0;
  sums.pin();
  ptx::wgmma_fence();  // WHY once: no other code uses the sums until the last wait
  int tile = 0;
  const auto multiply_until = [&](int end) {
#pragma unroll 1
    for (; tile < end; ++tile, at.advance()) {
      ring.wait(at);
      multiply_stage<TileA, TileB>(sums, a + at.stage * (TileA::kBytes >> 4),
                                   b + at.stage * (TileB::kBytes >> 4), tile == 0);
      ptx::wgmma_wait_group<1>();
      if (tile > 0) release(previous);
      previous = at.stage;
    }
  };
  if constexpr (!cuda::std::is_same_v<UnderWay, Nothing>) {
    multiply_until(min(k_tiles, 3));
    under_way();
  }
  multiply_until(k_tiles);
  last_started();
  ptx::wgmma_wait_group<0>();
  sums.pin();
  release(previous);
}

// Starts the products of half a stage, with A from registers, and waits for the previous half.
template <int half, class TileA, class TileB, class Sums>
__device__ void multiply_half(Sums& sums, tile::WgmmaFragments<TileA> (&a)[2], std::uint32_t at,
                              std::uint64_t b, bool first) {
  static_assert(Sums::kTilesM == 2 && Sums::kTilesN == 1);
  constexpr int kStep = tile::WgmmaFragments<TileA>::kStep;
  a[0].template load<2 * half>(at);
  a[1].template load<2 * half + 1>(at);
  a[0].pin(), a[1].pin();
  ptx::wgmma_fence();
#pragma unroll
  for (int step = 0; step < 2; ++step) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      ptx::wgmma<TileA::kType, TileB::kMajor>(sums.sum[i][0], a[step].of[i],
                                              b + TileB::step(0, (2 * half + step) * kStep),
                                              half + step > 0 || !first);
    }
  }
  ptx::wgmma_commit_group();
  ptx::wgmma_wait_group<1>();
}

// Like multiply_tiles, with A from registers: fragments of half a stage are loaded while the tensor
// cores multiply the previous half. TRIED: quarters of a stage: a warpgroup that multiplies alone
// then waits for its loads.
template <class TileA, class TileB, class Sums, class Ring, class Release, class LastStarted>
__device__ void multiply_tiles_from_registers(Sums& sums, Ring& ring,
                                              pipeline::Position<Ring::kStages>& at, int k_tiles,
                                              int row, Release release, LastStarted last_started) {
  using Fragments = tile::WgmmaFragments<TileA>;
  static_assert(TileA::kK == 4 * Fragments::kStep, "a stage is four steps");
  const std::uint32_t a = ptx::shared_address(ring.a) + Fragments::offset(row, threadIdx.x);
  const std::uint64_t b = TileB::descriptor(ptx::shared_address(ring.b));
  int previous = 0;
  Fragments low[2], high[2];
  sums.pin();
#pragma unroll 1
  for (int tile = 0; tile < k_tiles; ++tile, at.advance()) {
    ring.wait(at);
    const std::uint32_t of_a = a + at.stage * TileA::kBytes;
    const std::uint64_t of_b = b + at.stage * (TileB::kBytes >> 4);
    multiply_half<0, TileA, TileB>(sums, low, of_a, of_b, tile == 0);
    if (tile > 0) release(previous);
    multiply_half<1, TileA, TileB>(sums, high, of_a, of_b, tile == 0);
    previous = at.stage;
  }
  last_started();
  ptx::wgmma_wait_group<0>();
  low[0].pin(), low[1].pin(), high[0].pin(), high[1].pin();
  sums.pin();
  release(previous);
}

}  // namespace tessera::mainloop
