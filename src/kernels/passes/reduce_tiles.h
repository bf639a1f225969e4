// The second launch of a stream-K product with different types of sums and D: adds the partial sums
// of each split tile in ascending k, so that every run gives the same bits, and writes D.
#pragma once

#include "kernels/passes/reduce_parts.h"

namespace tessera::passes {

// The CTAs share the pieces of all split tiles. `p` has gemm, schedule and partials.
template <ElementType out, int block_m, int block_n, class Params>
__device__ void reduce_tiles(const Params& p) {
  constexpr int kElements = block_m * block_n;
  const int slices = reduce_slices(p.schedule), vectors = kReduceThreads / slices;
  const int slice = threadIdx.x / vectors, vector = threadIdx.x % vectors;
  const int pieces = reduce_pieces(p.schedule, block_m, block_n);
  const long long all = static_cast<long long>(p.schedule.split_tiles()) * pieces;
  for (long long i = blockIdx.x; i < all; i += gridDim.x) {
    const int split = static_cast<int>(i / pieces);
    const schedule::Partials partials = schedule::partials_of(p.schedule, split);
    if (partials.count == 1) continue;  // one run computed the tile and wrote D
    const schedule::TileCoord tile = raster(p.schedule, p.schedule.whole_tiles + split);
    const int element = 4 * (static_cast<int>(i % pieces) * vectors + vector);
    const long long row = tile.m * block_m + element / block_n;
    const long long column = tile.n * block_n + element % block_n;
    const bool inside = element < kElements && row < p.gemm.m && column < p.gemm.n;
    float4 sum = add_identity<float>();
    if (inside) {
      sum = sum_of_partials<kElements>(p.partials, partials, slice_begin(partials, slice, slices),
                                       slice_begin(partials, slice + 1, slices), element);
    }
    if (slices > 1) add_slices(sum, vectors);
    if (!inside || slice > 0) continue;
    if (p.gemm.beta != 0) {
      store_four<out, true>(p.gemm, sum, row, column);
    } else {
      store_four<out, false>(p.gemm, sum, row, column);
    }
  }
}

}  // namespace tessera::passes
