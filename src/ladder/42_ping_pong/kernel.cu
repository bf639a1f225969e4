// Rung 42: ping-pong. Each of two consumers has its own tile; one multiplies while the other
// stores, so that the tensor cores are not idle at the end of a tile.
//
// In rung 41 both consumers finish a tile together: while they pack and copy its sums, nothing is
// multiplied. Here they alternate: a consumer that has started its last wgmma lets the other begin.
// Both read the same ring, and each skips the other's stages. A tile is 128 x 192, because one
// warpgroup holds all of its sums: 192 registers per thread.
//
// The variant `192x192x64_s4_together` is another way to larger tiles: three warpgroups share one
// tile, and store it at the same time.
//
//   pipeline/turns.h     two named barriers, one per consumer
#include "kernels/pipeline/turns.h"
#include "kernels/ptx/wgmma_n192.h"
#include "ladder/42_ping_pong/config.h"
#include "ladder/shared/store_panels.h"
#include "ladder/shared/warpgroups.h"

namespace tessera::ping_pong {

using pipeline::Turns;

template <Config cfg>
struct Shared {
  typename ladder::Warpgroups<cfg>::Ring ring;
  ladder::Panels<cfg> panels[4 * cfg.consumers];
};

template <Config cfg>
__device__ tile::Coord<> corner_of(const Params& p, int tile) {
  const tile::Coord<> at = p.raster[tile];
  return {at.m * cfg.block.m, at.n * cfg.block.n};
}

// A consumer computes every second tile of the CTA, from its own first tile on.
template <Config cfg>
__device__ void multiply_in_turns(Shared<cfg>& shared, const Params& p, int consumer) {
  using W = ladder::Warpgroups<cfg>;
  const int step = static_cast<int>(gridDim.x);
  typename W::Sums sums;
  typename W::Position at;
  if (consumer == 1) at.advance(p.k_tiles);
  bool waits = consumer == 1;  // nothing comes before the CTA's first tile
  for (int tile = blockIdx.x + consumer * step; tile < p.raster.tiles(); tile += 2 * step) {
    if (waits) Turns::wait(consumer);
    waits = true;
    const bool passes_on = tile + step < p.raster.tiles();
    ladder::multiply_tiles<cfg>(sums, shared.ring, at, p, 0, {0, 0}, [&] {
      if (passes_on) Turns::pass_to(1 - consumer);
    });
    at.advance(p.k_tiles);
    const tile::Coord<> corner = corner_of<cfg>(p, tile);
    ladder::store_by_copies<cfg>(shared.panels, sums, p, consumer, corner.m, corner.n);
  }
  ladder::finish_stores();
}

// A consumer computes its rows of all tiles of the CTA.
template <Config cfg>
__device__ void multiply_together(Shared<cfg>& shared, const Params& p, int consumer) {
  using W = ladder::Warpgroups<cfg>;
  const int row = consumer * cfg.rows();
  typename W::Sums sums;
  typename W::Position at;
  for (int tile = blockIdx.x; tile < p.raster.tiles(); tile += gridDim.x) {
    ladder::multiply_tiles<cfg>(sums, shared.ring, at, p, row);
    const tile::Coord<> corner = corner_of<cfg>(p, tile);
    ladder::store_by_copies<cfg>(shared.panels, sums, p, consumer, corner.m + row, corner.n);
  }
  ladder::finish_stores();
}

template <Config cfg>
__device__ void run(const Params& p) {
  static_assert(is_legal(cfg) && sizeof(Shared<cfg>) <= cfg.shared_bytes());
  if (p.k_tiles == 0) return epilogue::store_without_sums<ElementType::kBf16>(p.gemm);
  extern __shared__ __align__(1024) unsigned char memory[];
  auto& shared = *reinterpret_cast<Shared<cfg>*>(memory);
  const auto load = [&] {
    typename ladder::Warpgroups<cfg>::Position at;
    for (int tile = blockIdx.x; tile < p.raster.tiles(); tile += gridDim.x) {
      ladder::load_tiles<cfg>(shared.ring, at, p, corner_of<cfg>(p, tile));
    }
  };
  const auto multiply = [&](int consumer) {
    if constexpr (cfg.ping_pong) {
      multiply_in_turns<cfg>(shared, p, consumer);
    } else {
      multiply_together<cfg>(shared, p, consumer);
    }
  };
  ladder::part_warpgroups<cfg>(shared.ring, load, multiply);
}

}  // namespace tessera::ping_pong
