// Rung 41: tensor copies store the sums. A warp packs 16 rows of 64 columns into a panel in shared
// memory with stmatrix, and one lane starts an asynchronous copy.
//
// In rung 39 a thread stores 64 pairs of neighbours separately: 4 bytes per lane, eight lines of
// memory per request, with an address and two guards each. The tensor cores are idle meanwhile.
// Here a row of a panel is a whole line of 128 bytes, and the copy engine clips panels at the edge
// of D.
//
//   epilogue/store_tma.h     store_by_tma(): panels, their swizzle, and D's that no copy can store
#include "kernels/ptx/wgmma_n256.h"
#include "ladder/41_stores_by_copy/config.h"
#include "ladder/shared/store_panels.h"
#include "ladder/shared/warpgroups.h"

namespace tessera::stores_by_copy {

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

}  // namespace tessera::stores_by_copy
