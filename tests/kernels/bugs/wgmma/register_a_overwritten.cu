// A comes from registers, and the next fragment is loaded into them while wgmma still reads them.
#include "tests/kernels/bugs/wgmma/wgmma_tile.h"

namespace tessera::bugs {

// Step k of the tile's rows, as wgmma wants A in registers: pairs of bf16, from the swizzled tile.
__device__ inline void load_fragment(std::uint32_t (&a)[4], const float* tile, int k) {
  const int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, pair = threadIdx.x % 4;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int bytes = (row + i % 2 * 8) * 128 + k * 32 + (pair + i / 2 * 4) * 4;
    a[i] = __float_as_uint(tile[ptx::swizzle_128b(bytes) / 4]);  // <- here
  }
}

template <bool intact>
__device__ void kernel(Args args) {
  __shared__ alignas(1024) float tile[kTileFloats];
  fill(tile, args.in);
  ptx::fence_proxy_async_shared();
  __syncthreads();
  Sum sum;
  std::uint32_t a[4];
  load_fragment(a, tile, 0);
#pragma unroll 1
  for (int k = 0; k < kSteps; ++k) {
    ptx::pin(sum);
    ptx::wgmma_fence();
    ptx::wgmma<kBf16>(sum, a, operand(tile, k), k > 0);  // <- here
    ptx::wgmma_commit_group();
    if (intact) ptx::wgmma_wait_group<0>();
    if (k + 1 < kSteps) load_fragment(a, tile, k + 1);
  }
  ptx::wgmma_wait_group<0>();
  ptx::pin(sum);
  store(args.out, sum);
}

}  // namespace tessera::bugs

extern "C" __global__ void register_a_overwritten__broken(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ void register_a_overwritten__intact(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
