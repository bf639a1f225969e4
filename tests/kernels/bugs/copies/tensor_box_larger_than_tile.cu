// The box of the tensor map is twice as large as the tile that was made for it.
#include "kernels/ptx/fence.h"
#include "kernels/ptx/tensor_copy.h"
#include "tests/kernels/bugs/args.h"

namespace tessera::bugs {

template <bool intact>
__device__ void kernel(Args args) {
  __shared__ alignas(128) float tile[intact ? 128 : 64];
  __shared__ ptx::Mbarrier loaded;
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

extern "C" __global__ void tensor_box_larger_than_tile__broken(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ void tensor_box_larger_than_tile__intact(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
