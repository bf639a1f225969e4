// A tensor map is edited and used without a fence between the edit and the engine that reads it.
#include "kernels/ptx/tensor_copy.h"
#include "tests/kernels/bugs/ring.h"

namespace tessera::bugs {

template <bool intact>
__device__ void kernel(Args args) {
  __shared__ Ring ring;
  const int i = threadIdx.x;
  if (i == 0) {
    init(ring);
    ptx::tensor_map_replace_address(*args.map, args.in + kReaders);  // <- here
    if (intact) {
      ptx::fence_tensormap_release();
      ptx::fence_tensormap_acquire(args.map);
    }
    ptx::mbarrier_arrive_expect_tx(ring.loaded[0], kStageBytes);
    ptx::tensor_load(ring.tile[0], *args.map, {0, 0}, ring.loaded[0]);  // <- here
  }
  __syncthreads();
  ptx::mbarrier_wait_parity(ring.loaded[0], 0);
  args.out[i] = args.in[127 - i] + ring.tile[0][127 - i];
}

}  // namespace tessera::bugs

extern "C" __global__ void tensor_map_edit_not_fenced__broken(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ void tensor_map_edit_not_fenced__intact(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
