// The result is scaled while wgmma may still be adding to it.
#include "tests/kernels/bugs/wgmma/wgmma_tile.h"

namespace tessera::bugs {

template <bool intact>
__device__ void kernel(Args args) {
  __shared__ alignas(1024) float tile[kTileFloats];
  fill(tile, args.in);
  ptx::fence_proxy_async_shared();
  __syncthreads();
  Sum sum;
  ptx::pin(sum);
  ptx::wgmma_fence();
  for (int k = 0; k < kSteps; ++k) {
    ptx::wgmma<kBf16>(sum, operand(tile, k), operand(tile, k), k > 0);  // <- here
  }
  ptx::wgmma_commit_group();
  if (intact) ptx::wgmma_wait_group<0>();
  ptx::pin(sum);
#pragma unroll
  for (int i = 0; i < 32; ++i) sum[i] *= 2;  // <- here
  ptx::wgmma_wait_group<0>();
  store(args.out, sum);
}

}  // namespace tessera::bugs

extern "C" __global__ void accumulator_read_before_wait__broken(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ void accumulator_read_before_wait__intact(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
