// Rung 38: a persistent grid. One CTA per SM computes several tiles, and its producer loads the
// next tile while the consumers store the previous one.
//
// In rung 37 each tile of D begins with an empty ring and ends with stores during which nothing is
// loaded. A CTA fills an SM, so no other CTA can use that time. Here producer and consumers walk
// over the same tiles, row by row, and the ring stays full between tiles.
#include "kernels/ptx/wgmma_n256.h"
#include "ladder/38_persistent_grid/config.h"
#include "ladder/shared/warpgroups.h"

namespace tessera::persistent_grid {

// Calls `visit` with the first row and column of every tile of this CTA.
template <Config cfg, class Visit>
__device__ void for_each_tile(const Params& p, Visit visit) {
  for (int tile = blockIdx.x; tile < p.raster.tiles(); tile += gridDim.x) {
    const int m = tile / p.raster.tiles_n, n = tile % p.raster.tiles_n;
    visit(tile::Coord<>{m * cfg.block.m, n * cfg.block.n});
  }
}

template <Config cfg>
__device__ void run(const Params& p) {
  static_assert(is_legal(cfg));
  if (p.k_tiles == 0) return epilogue::store_without_sums<ElementType::kBf16>(p.gemm);
  using W = ladder::Warpgroups<cfg>;
  static_assert(sizeof(typename W::Ring) <= cfg.shared_bytes());
  extern __shared__ __align__(1024) unsigned char memory[];
  auto& ring = *reinterpret_cast<typename W::Ring*>(memory);
  const auto load = [&] {
    typename W::Position at;
    for_each_tile<cfg>(p,
                       [&](tile::Coord<> corner) { ladder::load_tiles<cfg>(ring, at, p, corner); });
  };
  const auto multiply = [&](int consumer) {
    const int row = consumer * cfg.rows();
    typename W::Sums sums;
    typename W::Position at;
    for_each_tile<cfg>(p, [&](tile::Coord<> corner) {
      ladder::multiply_tiles<cfg>(sums, ring, at, p, row);
      ladder::store_sums<cfg.block.n>(sums, p.gemm, corner.m, corner.n, row);
    });
  };
  ladder::part_warpgroups<cfg>(ring, load, multiply);
}

}  // namespace tessera::persistent_grid
