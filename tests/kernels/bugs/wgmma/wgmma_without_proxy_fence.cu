// Threads write the tile, wgmma reads it through the async proxy: a barrier alone is not enough.
#include "tests/kernels/bugs/wgmma/wgmma_tile.h"

namespace tessera::bugs {

template <bool intact>
__device__ void kernel(Args args) {
  __shared__ alignas(1024) float tile[kTileFloats];
  for (int i = threadIdx.x; i < kTileFloats; i += 128) tile[i] = args.in[i];  // <- here
  if (intact) ptx::fence_proxy_async_shared();
  __syncthreads();
  Sum sum;
  ptx::pin(sum);
  ptx::wgmma_fence();
  for (int k = 0; k < kSteps; ++k) {
    ptx::wgmma<kBf16>(sum, operand(tile, k), operand(tile, k), k > 0);  // <- here
  }
  ptx::wgmma_commit_group();
  ptx::wgmma_wait_group<0>();
  ptx::pin(sum);
  store(args.out, sum);
}

}  // namespace tessera::bugs

extern "C" __global__ void wgmma_without_proxy_fence__broken(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ void wgmma_without_proxy_fence__intact(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
