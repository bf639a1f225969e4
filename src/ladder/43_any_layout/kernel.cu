// Rung 43: any layout and any alignment, by the same loop.
//
// Rungs 34 to 42 take NN with rows at multiples of 16 bytes. The loop of rung 41 below does not
// change for the rest. Which index of an operand is contiguous is a type: of the tile (its rows are
// k, or they are m or n), of its tensor map, and of a bit in each wgmma. So four entries are the
// four layouts, and none of them transposes anything.
//
// Rows that begin anywhere are what a tensor copy cannot take. A launch ahead copies such an
// operand into rows that begin at lines: bytes of one pass over it, and not of each tile.
//
//   tile/shared_tile.h          both kinds of tile, and their descriptors
//   passes/repack_halves.h      the launch ahead: aligned loads, shifted by what is odd
#include "kernels/passes/repack_halves.h"
#include "kernels/ptx/wgmma_n256.h"
#include "ladder/43_any_layout/config.h"
#include "ladder/shared/store_panels.h"
#include "ladder/shared/warpgroups.h"

namespace tessera::any_layout {

using passes::repack_halves;  // the entry of the launch ahead

template <Config cfg>
struct Shared {
  typename ladder::Warpgroups<cfg>::Ring ring;
  ladder::Panels<cfg> panels[4 * cfg.consumers];
};

template <Config cfg, class Visit>
__device__ void for_each_tile(const Params& p, Visit visit) {
  for (int tile = blockIdx.x; tile < p.raster.tiles(); tile += gridDim.x) {
    const tile::Coord<> at = p.raster[tile];
    visit(tile::Coord<>{at.m * cfg.block.m, at.n * cfg.block.n});
  }
}

template <Config cfg>
__device__ void run(const Params& p) {
  static_assert(is_legal(cfg) && sizeof(Shared<cfg>) <= cfg.shared_bytes());
  if (p.k_tiles == 0) return epilogue::store_without_sums<ElementType::kBf16>(p.gemm);
  using W = ladder::Warpgroups<cfg>;
  extern __shared__ __align__(1024) unsigned char memory[];
  auto& shared = *reinterpret_cast<Shared<cfg>*>(memory);
  const auto load = [&] {
    typename W::Position at;
    for_each_tile<cfg>(
        p, [&](tile::Coord<> corner) { ladder::load_tiles<cfg>(shared.ring, at, p, corner); });
  };
  const auto multiply = [&](int consumer) {
    const int row = consumer * cfg.rows();
    typename W::Sums sums;
    typename W::Position at;
    for_each_tile<cfg>(p, [&](tile::Coord<> corner) {
      ladder::multiply_tiles<cfg>(sums, shared.ring, at, p, row);
      ladder::store_by_copies<cfg>(shared.panels, sums, p, consumer, corner.m + row, corner.n);
    });
    ladder::finish_stores();
  };
  ladder::part_warpgroups<cfg>(shared.ring, load, multiply);
}

}  // namespace tessera::any_layout
