// The stage is given back once the multiplication has been issued; it still reads the tile.
#include "kernels/ptx/bulk_copy.h"
#include "tests/kernels/bugs/wgmma/wgmma_tile.h"

namespace tessera::bugs {

template <bool intact>
__device__ void kernel(Args args) {
  __shared__ alignas(1024) float tile[kTileFloats];
  __shared__ ptx::Mbarrier tile_loaded, tile_consumed;
  const int i = threadIdx.x, tiles = args.n / kTileFloats;
  if (i == 0) {
    ptx::mbarrier_init(tile_loaded, 1);
    ptx::mbarrier_init(tile_consumed, 128);
    ptx::fence_proxy_async_shared();
  }
  __syncthreads();
  if (i == 128) {
    for (int t = 0; t < tiles; ++t) {
      ptx::mbarrier_wait_parity(tile_consumed, t % 2 ^ 1);
      ptx::mbarrier_arrive_expect_tx(tile_loaded, kTileBytes);
      ptx::bulk_load(tile, &args.in[t * kTileFloats], kTileBytes, tile_loaded);  // <- here
    }
  } else if (i < 128) {
    Sum sum;
    for (int t = 0; t < tiles; ++t) {
      ptx::mbarrier_wait_parity(tile_loaded, t % 2);
      ptx::pin(sum);
      ptx::wgmma_fence();
      for (int k = 0; k < kSteps; ++k) {
        const std::uint64_t x = operand(tile, k);
        ptx::wgmma<kBf16>(sum, x, x, t > 0 || k > 0);  // <- here
      }
      ptx::wgmma_commit_group();
      if (intact) ptx::wgmma_wait_group<0>();
      ptx::mbarrier_arrive(tile_consumed);
    }
    ptx::wgmma_wait_group<0>();
    ptx::pin(sum);
    store(args.out, sum);
  }
}

}  // namespace tessera::bugs

extern "C" __global__ void stage_released_before_wgmma_wait__broken(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ void stage_released_before_wgmma_wait__intact(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
