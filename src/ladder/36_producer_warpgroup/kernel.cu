// Rung 36: one warpgroup loads, the other one multiplies, and the first gives it its registers.
//
// In rung 35 the thread that loads also multiplies: where a stage is not free yet its warp waits,
// and the three others with it at the next wgmma. Here a thread of another warpgroup waits instead,
// runs ahead as far as the ring allows, and keeps nobody. Registers are dealt out evenly at launch,
// but a warpgroup that loads needs few: setmaxnreg moves them.
//
//   shared/warpgroups.h     part_warpgroups(): the start of both roles
#include "kernels/ptx/wgmma_n128.h"
#include "ladder/36_producer_warpgroup/config.h"
#include "ladder/shared/common.h"
#include "ladder/shared/warpgroups.h"

namespace tessera::producer_warpgroup {

template <Config cfg>
__device__ void run(const Params& p) {
  static_assert(is_legal(cfg));
  if (p.k_tiles == 0) return epilogue::store_without_sums<epilogue::Out::kBF16>(p.gemm);
  using W = ladder::Warpgroups<cfg>;
  static_assert(sizeof(typename W::Ring) <= cfg.shared_bytes());
  extern __shared__ __align__(1024) unsigned char memory[];
  auto& ring = *reinterpret_cast<typename W::Ring*>(memory);
  const ladder::BlockOrigin origin = ladder::block_origin(p.gemm, cfg.block.m, cfg.block.n);
  const tile::Coord<> corner{static_cast<int>(origin.row), static_cast<int>(origin.col)};
  const auto load = [&] {
    typename W::Position at;
    ladder::load_tiles<cfg>(ring, at, p, corner);
  };
  const auto multiply = [&](int) {
    typename W::Sums sums;
    typename W::Position at;
    ladder::multiply_tiles<cfg>(sums, ring, at, p, 0);
    ladder::store_sums<cfg.block.n>(sums, p.gemm, corner.m, corner.n, 0);
  };
  ladder::part_warpgroups<cfg>(ring, load, multiply);
}

}  // namespace tessera::producer_warpgroup
