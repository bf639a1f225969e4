// Accumulators that were just written are handed to wgmma without a fence for registers.
#include "tests/kernels/bugs/wgmma/wgmma_tile.h"

namespace tessera::bugs {

template <bool intact>
__device__ void kernel(Args args) {
  __shared__ alignas(1024) float tile[kTileFloats];
  fill(tile, args.in);
  ptx::fence_proxy_async_shared();
  __syncthreads();
  Sum sum;
#pragma unroll
  for (int i = 0; i < 32; ++i) sum[i] = args.in[i] * 0;
  ptx::pin(sum);
  if (intact) ptx::wgmma_fence();
  for (int k = 0; k < kSteps; ++k) {
    ptx::wgmma<kBf16>(sum, operand(tile, k), operand(tile, k), true);  // <- here
  }
  ptx::wgmma_commit_group();
  ptx::wgmma_wait_group<0>();
  ptx::pin(sum);
  store(args.out, sum);
}

}  // namespace tessera::bugs

extern "C" __global__ void wgmma_without_fence__broken(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ void wgmma_without_fence__intact(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
