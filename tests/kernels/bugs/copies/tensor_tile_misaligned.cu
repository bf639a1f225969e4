// Tensor copies want their tiles on multiples of 128 bytes: here a header of 16 bytes stands before
// it.
#include "kernels/ptx/fence.h"
#include "kernels/ptx/tensor_copy.h"
#include "tests/kernels/bugs/args.h"

namespace tessera::bugs {

template <bool intact>
__device__ void kernel(Args args) {
  __shared__ alignas(128) float memory[32 + 128];  // a header, then the tile
  __shared__ ptx::Mbarrier loaded;
  float* tile = memory + (intact ? 32 : 4);
  const int i = threadIdx.x;
  if (i == 0) {
    ptx::mbarrier_init(loaded, 1);
    ptx::fence_proxy_async_shared();
    ptx::mbarrier_arrive_expect_tx(loaded, 512);
    ptx::tensor_load(tile, *args.map, {0, 0}, loaded);  // <- here
  }
  __syncthreads();
  ptx::mbarrier_wait_parity(loaded, 0);
  args.out[i] = tile[127 - i];
}

}  // namespace tessera::bugs

extern "C" __global__ void tensor_tile_misaligned__broken(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ void tensor_tile_misaligned__intact(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
