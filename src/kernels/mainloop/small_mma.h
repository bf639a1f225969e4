// The warps of a CTA compute a tile of a small product: 16-bit elements on tensor cores, by
// mma.sync. Tiles in shared memory have the contiguous index of their operand; ldmatrix transposes.
#pragma once

#include <cuda/std/type_traits>

#include "kernels/copy/padded_tile_copy.h"
#include "kernels/epilogue/store_pairs.h"
#include "kernels/tile/coord.h"
#include "kernels/tile/mma_accumulators.h"
#include "kernels/tile/padded_fragments.h"

namespace tessera::mainloop {

// The config `cfg` must have: in, out, block, warp(), majors, team().
template <auto cfg>
class SmallMma {
 public:
  static constexpr bool kAlongA = cfg.majors.a == Major::kK, kAlongB = cfg.majors.b == Major::kK;
  using A = tile::PaddedTile<std::uint16_t, cfg.block.m, cfg.block.k, kAlongA>;
  using B = tile::PaddedTile<std::uint16_t, cfg.block.n, cfg.block.k, kAlongB>;
  struct Stage {
    A a;
    B b;
  };

  __device__ explicit SmallMma(tile::Coord<> warp)
      : row_(warp.m * cfg.warp().m), column_(warp.n * cfg.warp().n) {}

  __device__ void clear() { sums_.clear(); }

  // Starts the copies of the operands' tiles from k on. `thread`: the thread's index in its team.
  __device__ static void start(Stage& stage, const GemmParams& p, tile::Coord<long long> corner,
                               long long k, int thread) {
    using T = std::uint16_t;
    copy::PaddedTileCopy<A, cfg.team()>(copy::operand_a<T, cfg.majors.a>(p), corner.m, k, thread)
        .start(stage.a);
    copy::PaddedTileCopy<B, cfg.team()>(copy::operand_b<T, cfg.majors.b>(p), corner.n, k, thread)
        .start(stage.b);
  }

  __device__ void multiply(const Stage& stage) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int step = 0; step < cfg.block.k / 16; ++step) {
      tile::PaddedFragments<A, cfg.warp().m / tile::kMmaOuter, tile::MmaOperand::kA> a;
      tile::PaddedFragments<B, cfg.warp().n / tile::kMmaOuter, tile::MmaOperand::kB> b;
      a.load(stage.a, lane, row_, step);
      b.load(stage.b, lane, column_, step);
      sums_.multiply_add(a, b);
    }
  }

  __device__ void store(const GemmParams& p, tile::Coord<long long> corner) const {
    if (p.beta != 0) {
      epilogue::store_fragments<cfg.out, true>(sums_, p, corner.m + row_, corner.n + column_);
    } else {
      epilogue::store_fragments<cfg.out, false>(sums_, p, corner.m + row_, corner.n + column_);
    }
  }

 private:
  tile::MmaAccumulators<cfg.in, cfg.warp().m, cfg.warp().n> sums_;
  int row_, column_;  // origin of the warp's tile in the block's tile
};

}  // namespace tessera::mainloop
