// Waiting for wgmma is an affair of each warp. One warp waits and gives the tile back for all four,
// while the multiplications of the other three still read it.
#include "kernels/ptx/bulk_copy.h"
#include "kernels/ptx/named_barrier.h"
#include "tests/kernels/bugs/wgmma/wgmma_tile.h"

namespace tessera::bugs {

template <bool intact>
__device__ void kernel(Args args) {
  __shared__ alignas(1024) float tile[kTileFloats];
  __shared__ ptx::Mbarrier tile_loaded[2], tile_consumed;
  const int i = threadIdx.x, tiles = 2;
  if (i == 0) {
    ptx::mbarrier_init(tile_loaded[0], 1);
    ptx::mbarrier_init(tile_loaded[1], 1);
    ptx::mbarrier_init(tile_consumed, 1);
    ptx::fence_proxy_async_shared();
  }
  __syncthreads();
  if (i == 128) {
    for (int t = 0; t < tiles; ++t) {
      ptx::mbarrier_wait_parity(tile_consumed, t % 2 ^ 1);
      ptx::mbarrier_arrive_expect_tx(tile_loaded[t], kTileBytes);
      ptx::bulk_load(tile, &args.in[t * kTileFloats], kTileBytes, tile_loaded[t]);  // <- here
    }
  } else if (i < 128) {
    Sum sum;
    for (int t = 0; t < tiles; ++t) {
      ptx::mbarrier_wait_parity(tile_loaded[t], 0);
      ptx::pin(sum);
      ptx::wgmma_fence();
      for (int k = 0; k < kSteps; ++k) {
        const std::uint64_t x = operand(tile, k);
        ptx::wgmma<kBf16>(sum, x, x, t > 0 || k > 0);  // <- here
      }
      ptx::wgmma_commit_group();
      ptx::wgmma_wait_group<0>();
      if (intact) ptx::barrier_sync(1, 128);
      if (i == 0) ptx::mbarrier_arrive(tile_consumed);
    }
    ptx::pin(sum);
    store(args.out, sum);
  }
}

}  // namespace tessera::bugs

extern "C" __global__ void wgmma_wait_by_one_warp__broken(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ void wgmma_wait_by_one_warp__intact(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
