// The copy engine signals a barrier that a thread has initialised: without a fence between the two
// proxies it may meet the bytes of before.
#include "tests/kernels/bugs/ring.h"

namespace tessera::bugs {

template <bool intact>
__device__ void kernel(Args args) {
  __shared__ Ring ring;
  const int i = threadIdx.x;
  if (i == 0) {
    ptx::mbarrier_init(ring.loaded[0], 1);  // <- here
    if (intact) ptx::fence_mbarrier_init();
    ptx::mbarrier_arrive_expect_tx(ring.loaded[0], kStageBytes);
    ptx::bulk_load(ring.tile[0], args.in, kStageBytes, ring.loaded[0]);  // <- here
  }
  __syncthreads();
  ptx::mbarrier_wait_parity(ring.loaded[0], 0);
  args.out[i] = ring.tile[0][127 - i];
}

}  // namespace tessera::bugs

extern "C" __global__ void mbarrier_init_not_fenced__broken(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ void mbarrier_init_not_fenced__intact(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
