// The warps of a CTA compute a tile of a small product on the FP64 tensor cores, from SM 9.0 on.
#pragma once

#include "kernels/copy/swizzled_tile_copy.h"
#include "kernels/epilogue/store_registers.h"
#include "kernels/tile/coord.h"
#include "kernels/tile/dmma_accumulators.h"

namespace tessera::mainloop {

// The config `cfg` must have: block, warp(), majors, team().
template <auto cfg>
class SmallDmma {
 public:
  using A = tile::SwizzledTile<double, cfg.block.m, cfg.block.k, cfg.majors.a>;
  using B = tile::SwizzledTile<double, cfg.block.n, cfg.block.k, cfg.majors.b>;
  struct Stage {
    A a;
    B b;
  };

  __device__ explicit SmallDmma(tile::Coord<> warp)
      : row_(warp.m * cfg.warp().m), column_(warp.n * cfg.warp().n) {}

  __device__ void clear() { sums_.clear(); }

  // Starts the copies of the operands' tiles from k on. `thread`: the thread's index in its team.
  __device__ static void start(Stage& stage, const GemmParams& p, tile::Coord<long long> corner,
                               long long k, int thread) {
    using CopyA = copy::SwizzledTileCopy<A, cfg.team()>;
    using CopyB = copy::SwizzledTileCopy<B, cfg.team()>;
    const int k_inside = tile::inside(k, p.k, cfg.block.k);
    CopyA a(copy::operand_a<double, cfg.majors.a>(p), corner.m, k, thread);
    CopyB b(copy::operand_b<double, cfg.majors.b>(p), corner.n, k, thread);
    if (a.copies_whole_tiles() && b.copies_whole_tiles() && k_inside == cfg.block.k) {
      a.template copy_part<true>(stage.a, k_inside, 0, 1);
      b.template copy_part<true>(stage.b, k_inside, 0, 1);
    } else {
      a.template copy_part<false>(stage.a, k_inside, 0, 1);
      b.template copy_part<false>(stage.b, k_inside, 0, 1);
    }
  }

  __device__ void multiply(const Stage& stage) {
    const int lane = threadIdx.x % 32;
    const int at_a = tile::DmmaLoads<A>::lane_offset(lane, row_);
    const int at_b = tile::DmmaLoads<B>::lane_offset(lane, column_);
#pragma unroll
    for (int step = 0; step < cfg.block.k / kDepth; ++step) {
      tile::DmmaFragments<A, cfg.warp().m / tile::kDmmaOuter, kDepth> a;
      a.load(stage.a, at_a, 0, step);
#pragma unroll
      for (int j = 0; j < cfg.warp().n / tile::kDmmaOuter; ++j) {
        tile::DmmaFragments<B, 1, kDepth> b;
        b.load(stage.b, at_b, j, step);
        sums_.template multiply_add<kInstruction>(j, a, b);
      }
    }
  }

  __device__ void store(const GemmParams& p, tile::Coord<long long> corner) const {
    const auto output = epilogue::vector_output_of<double, double>(p);
    epilogue::store_vectors_with_c(output.from(corner.m + row_, corner.n + column_), cfg.warp(),
                                   threadIdx.x % 32, sums_);
  }

 private:
  static constexpr tile::Dmma kInstruction = tile::Dmma::kM16N8K8;
  static constexpr int kDepth = tile::dmma_depth(kInstruction);

  tile::DmmaAccumulators<cfg.warp().m, cfg.warp().n> sums_;
  int row_, column_;  // origin of the warp's tile in the block's tile
};

}  // namespace tessera::mainloop
