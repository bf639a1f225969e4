// Rung 43: any layout and any alignment, with the same loop.
//
// Rungs 34 to 42 take layout NN with rows at multiples of 16 bytes. The loop of rung 41 serves the
// other layouts unchanged. The contiguous index of an operand determines the type of its shared
// tile (rows along k, or along m or n), its tensor map and a bit in each wgmma. There is one entry
// per layout, and none of them transposes anything.
//
// A tensor copy cannot read rows at addresses that are no multiples of 16 bytes. A previous launch
// copies such operands into aligned rows: one pass instead of extra work for each tile.
//
//   tile/shared_tile.h          both kinds of tile, and their descriptors
//   passes/repack_halves.h      the previous launch: aligned loads, shifted by the misalignment
#include "kernels/passes/repack_halves.h"
#include "kernels/ptx/wgmma_n256.h"
#include "ladder/43_any_layout/config.h"
#include "ladder/shared/store_panels.h"
#include "ladder/shared/warpgroups.h"

namespace tessera::any_layout {

using passes::repack_halves;  // the entry of the previous launch

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
