// Rung 40: two CTAs of a cluster, one tile above the other, need the same tile of B. Each CTA loads
// half of that tile and multicasts the half to both CTAs.
//
// In rung 39 a CTA reads 48 KiB from L2 for 128 x 256 x 64 products. Here it reads 16 + 16 KiB. The
// price: a stage is free only after both CTAs have read it, so each warp arrives at two barriers,
// and both CTAs run at the pace of the slower one.
//
//   schedule/cluster.h     which CTAs share which tiles
#include "kernels/ptx/wgmma_n256.h"
#include "kernels/schedule/tile_walk.h"
#include "ladder/40_cluster_multicast/config.h"
#include "ladder/shared/warpgroups.h"

namespace tessera::cluster_multicast {

// Calls `visit` with the first row and column of every tile of this CTA. One tile of the raster is
// the tile of a whole cluster.
template <Config cfg, class Visit>
__device__ void for_each_tile(const Params& p, Visit visit) {
  constexpr int kProducts = 1;
  const int products = kProducts;
  for (schedule::TileWalk<cfg.cluster> walk(p.raster, products); walk.valid(); walk.advance()) {
    visit(walk.corner(cfg.block));
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
  const auto place = W::Place::of_rank(static_cast<int>(blockIdx.x) % W::Place::kSize);
  const auto load = [&] {
    // This CTA's share of each tile, and the CTAs that receive it.
    const mainloop::Shares shares{{place.n, place.readers_of_a()}, {place.m, place.readers_of_b()}};
    typename W::Position at;
    for_each_tile<cfg>(
        p, [&](tile::Coord<> corner) { ladder::load_tiles<cfg>(ring, at, p, corner, shares); });
  };
  const auto multiply = [&](int consumer) {
    const int row = consumer * cfg.rows();
    typename W::Sums sums;
    typename W::Position at;
    for_each_tile<cfg>(p, [&](tile::Coord<> corner) {
      ladder::multiply_tiles<cfg>(sums, ring, at, p, row, place);
      ladder::store_sums<cfg.block.n>(sums, p.gemm, corner.m, corner.n, row);
    });
  };
  ladder::part_warpgroups<cfg>(ring, load, multiply);
}

}  // namespace tessera::cluster_multicast
