// Rung 36: one warpgroup loads and gives registers to the other warpgroup, which multiplies.
//
// In rung 35 the thread that loads also multiplies: if a stage is not free yet, its warp waits, and
// the three other warps wait for it at the next wgmma. Here a thread of another warpgroup waits
// instead. It runs ahead as far as the ring allows and delays no other warp. At launch every warp
// gets the same number of registers, but a warpgroup that loads needs few: setmaxnreg moves them.
//
// Later rungs call part_warpgroups() of ladder/shared/warpgroups.h for the last part of run().
#include "kernels/ptx/elect.h"
#include "kernels/ptx/registers.h"
#include "kernels/ptx/wgmma_n128.h"
#include "ladder/36_producer_warpgroup/config.h"
#include "ladder/shared/common.h"
#include "ladder/shared/warpgroups.h"

namespace tessera::producer_warpgroup {

template <Config cfg>
__device__ void run(const Params& p) {
  static_assert(is_legal(cfg));
  if (p.k_tiles == 0) return epilogue::store_without_sums<ElementType::kBf16>(p.gemm);
  using W = ladder::Warpgroups<cfg>;
  static_assert(sizeof(typename W::Ring) <= cfg.shared_bytes());
  extern __shared__ __align__(1024) unsigned char memory[];
  auto& ring = *reinterpret_cast<typename W::Ring*>(memory);
  const ladder::BlockOrigin origin = ladder::block_origin(p.gemm, cfg.block.m, cfg.block.n);
  const tile::Coord<> corner{static_cast<int>(origin.row), static_cast<int>(origin.col)};
  if (threadIdx.x == 0) {
    ring.init(4);  // a stage is free when the four warps that multiply have released it
    ptx::fence_mbarrier_init();
    ptx::fence_proxy_async_shared();
  }
  __syncthreads();
  typename W::Position at;
  // WHY the shuffle: the compiler must know that `warp` is the same in all lanes.
  const int warp = __shfl_sync(0xffffffff, static_cast<int>(threadIdx.x) / 32, 0);
  if (warp < 4) {
    ptx::release_registers_to<cfg.producer_registers>();
    if (warp == 0 && ptx::elect_one()) ladder::load_tiles<cfg>(ring, at, p, corner);
  } else {
    ptx::acquire_registers_up_to<cfg.consumer_registers>();
    typename W::Sums sums;
    ladder::multiply_tiles<cfg>(sums, ring, at, p, 0);
    ladder::store_sums<cfg.block.n>(sums, p.gemm, corner.m, corner.n, 0);
  }
}

}  // namespace tessera::producer_warpgroup
