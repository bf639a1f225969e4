// The barrier expects more bytes than the copy brings: its phase never ends.
#include "tests/kernels/bugs/ring.h"

namespace tessera::bugs {

template <bool intact>
__device__ void kernel(Args args) {
  __shared__ Ring ring;
  const int i = threadIdx.x;
  if (i == 0) {
    init(ring);
    ptx::mbarrier_arrive_expect_tx(ring.loaded[0], intact ? kStageBytes : 2 * kStageBytes);
    ptx::bulk_load(ring.tile[0], args.in, kStageBytes, ring.loaded[0]);
  }
  __syncthreads();
  ptx::mbarrier_wait_parity(ring.loaded[0], 0);  // <- here
  args.out[i] = ring.tile[0][127 - i];
}

}  // namespace tessera::bugs

extern "C" __global__ void expected_bytes_wrong__broken(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ void expected_bytes_wrong__intact(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
