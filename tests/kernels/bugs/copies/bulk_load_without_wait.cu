// A barrier of the threads says nothing of a copy that one of them has issued.
#include "tests/kernels/bugs/ring.h"

namespace tessera::bugs {

template <bool intact>
__device__ void kernel(Args args) {
  __shared__ Ring ring;
  const int i = threadIdx.x;
  if (i == 0) {
    init(ring);
    ptx::mbarrier_arrive_expect_tx(ring.loaded[0], kStageBytes);
    ptx::bulk_load(ring.tile[0], args.in, kStageBytes, ring.loaded[0]);  // <- here
  }
  __syncthreads();
  if (intact) ptx::mbarrier_wait_parity(ring.loaded[0], 0);
  args.out[i] = ring.tile[0][127 - i];  // <- here
}

}  // namespace tessera::bugs

extern "C" __global__ void bulk_load_without_wait__broken(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ void bulk_load_without_wait__intact(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
