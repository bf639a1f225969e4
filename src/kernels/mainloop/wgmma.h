// Tiles to accumulators on tensor cores: the producer's loop over the k tiles of one output tile,
// and the consumer's loop, which multiplies the stages that the producer fills.
#pragma once

#include "kernels/copy/tma.h"
#include "kernels/pipeline/mbarrier_ring.h"
#include "kernels/ptx/wgmma.h"
#include "kernels/tile/accumulators.h"
#include "kernels/tile/coord.h"

namespace tessera::mainloop {

// What one CTA loads for itself and its partners.
struct Shares {
  copy::Share a, b;
};

// One thread: the k tiles first_k_tile ... of one output tile. LoadA and LoadB are copy::TmaTile.
template <class LoadA, class LoadB, class Ring>
__device__ void load_tiles(Ring& ring, pipeline::Position<Ring::kStages>& at, const TensorMap& a,
                           const TensorMap& b, tile::Coord<> corner, int first_k_tile, int k_tiles,
                           Shares shares) {
  constexpr int kDepth = Ring::A::kK;
#pragma unroll 1
  for (int tile = first_k_tile; tile < first_k_tile + k_tiles; ++tile, at.advance()) {
    ring.acquire(at);
    ptx::Mbarrier& loaded = ring.tile_loaded[at.stage];
    LoadA::load(ring.a[at.stage], a, corner.m, tile * kDepth, loaded, shares.a);
    LoadB::load(ring.b[at.stage], b, corner.n, tile * kDepth, loaded, shares.b);
  }
}

// The products of one stage, all of its k: kept in flight.
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

// A warpgroup: sums = its rows of A (from `row` of the tile on) times B, over all k tiles, at least
// one. TRIED: clearing the sums here where there is none. ptxas then serialises wgmma: ping-pong
// 128x192 fell from 827 to 300 TFLOP/s. One
// stage stays in flight, so a stage is released when the next one has been started.
// `release(stage)` says that this warp no longer reads it; `last_started()` is called when the
// tensor cores have all their work.
template <class TileA, class TileB, class Sums, class Ring, class Release, class LastStarted>
__device__ void multiply_tiles(Sums& sums, Ring& ring, pipeline::Position<Ring::kStages>& at,
                               int k_tiles, int row, Release release, LastStarted last_started) {
  const std::uint64_t a = TileA::descriptor(ptx::shared_address(ring.a)) + TileA::step(row, 0);
  const std::uint64_t b = TileB::descriptor(ptx::shared_address(ring.b));
  int previous = 0;
  sums.pin();
  ptx::wgmma_fence();  // WHY once: nothing else touches the sums until the last wait
#pragma unroll 1
  for (int tile = 0; tile < k_tiles; ++tile, at.advance()) {
    ring.wait(at);
    multiply_stage<TileA, TileB>(sums, a + at.stage * (TileA::kBytes >> 4),
                                 b + at.stage * (TileB::kBytes >> 4), tile == 0);
    ptx::wgmma_wait_group<1>();
    if (tile > 0) release(previous);
    previous = at.stage;
  }
  last_started();
  ptx::wgmma_wait_group<0>();
  sums.pin();
  release(previous);
}

}  // namespace tessera::mainloop
