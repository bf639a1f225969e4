// A tensor map in memory is turned to the next matrix while a copy may still read the map.
#include "kernels/ptx/tensor_copy.h"
#include "tests/kernels/bugs/ring.h"

namespace tessera::bugs {

template <bool intact>
__device__ void kernel(Args args) {
  __shared__ Ring ring;
  const int i = threadIdx.x;
  if (i == 0) {
    init(ring);
    ptx::mbarrier_arrive_expect_tx(ring.loaded[0], kStageBytes);
    ptx::tensor_load(ring.tile[0], *args.map, {0, 0}, ring.loaded[0]);  // <- here
    if (intact) ptx::mbarrier_wait_parity(ring.loaded[0], 0);
    ptx::tensor_map_replace_address(*args.map, args.in + kReaders);  // <- here
    ptx::fence_tensormap_release();
    ptx::fence_tensormap_acquire(args.map);
    ptx::mbarrier_arrive_expect_tx(ring.loaded[1], kStageBytes);
    ptx::tensor_load(ring.tile[1], *args.map, {0, 0}, ring.loaded[1]);
  }
  __syncthreads();
  ptx::mbarrier_wait_parity(ring.loaded[0], 0);
  ptx::mbarrier_wait_parity(ring.loaded[1], 0);
  args.out[i] = ring.tile[0][127 - i] + ring.tile[1][127 - i];
}

}  // namespace tessera::bugs

extern "C" __global__ void tensor_map_edited_in_use__broken(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ void tensor_map_edited_in_use__intact(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
