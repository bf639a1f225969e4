// Rung 39: tiles in compact groups. Tiles that run at the same time share rows of A and columns of
// B, and L2 serves all loads of a shared tile but the first.
//
// Rung 38 walks row by row: 132 concurrent tiles of 128 x 256 form a band as wide as D, so all of B
// is read again for every few tile rows. A group is a few tile rows, walked column by column: the
// concurrent tiles form nearly a square, which needs the fewest rows of A and columns of B.
//
//   before   0  1  2  3  4  5  6  7        after   0  2  4  6  8 10 12 14
//            8  9 10 11 12 13 14 15                1  3  5  7  9 11 13 15
//           16 17 18 19 20 21 22 23               16 18 20 22 24 26 28 30
//           24 25 26 27 28 29 30 31               17 19 21 23 25 27 29 31
#include "kernels/ptx/wgmma_n256.h"
#include "ladder/39_raster_order/config.h"
#include "ladder/shared/warpgroups.h"

namespace tessera::raster_order {

// Coordinates of tile `index`. Groups have raster.group tile rows; the last group may have fewer.
__device__ tile::Coord<> tile_at(const schedule::Raster& raster, int index) {
  const int first = index / (raster.group * raster.tiles_n) * raster.group;
  const int rows = min(raster.tiles_m - first, raster.group);
  const int in_group = index - first * raster.tiles_n;
  return {first + in_group % rows, in_group / rows};
}

// Calls `visit` with the first row and column of every tile of this CTA.
template <Config cfg, class Visit>
__device__ void for_each_tile(const Params& p, Visit visit) {
  for (int tile = blockIdx.x; tile < p.raster.tiles(); tile += gridDim.x) {
    const tile::Coord<> at = tile_at(p.raster, tile);
    visit(tile::Coord<>{at.m * cfg.block.m, at.n * cfg.block.n});
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

}  // namespace tessera::raster_order
