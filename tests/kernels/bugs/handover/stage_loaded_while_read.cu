// The second load into a tile waits for the first one to arrive, not for those who read it.
#include "tests/kernels/bugs/ring.h"

namespace tessera::bugs {

template <bool intact>
__device__ void kernel(Args args) {
  __shared__ Ring ring;  // of its tiles one is used, and a barrier a round
  const int i = threadIdx.x, rounds = 2;
  if (i == 0) init(ring);
  __syncthreads();
  if (i == kLoader) {
    for (int round = 0; round < rounds; ++round) {
      if (round > 0) ptx::mbarrier_wait_parity(intact ? ring.consumed[0] : ring.loaded[0], 0);
      ptx::mbarrier_arrive_expect_tx(ring.loaded[round], kStageBytes);
      ptx::bulk_load(ring.tile[0], &args.in[round * kReaders], kStageBytes,  // <- here
                     ring.loaded[round]);
    }
  } else if (i < kReaders) {
    float sum = 0;
    for (int round = 0; round < rounds; ++round) {
      ptx::mbarrier_wait_parity(ring.loaded[round], 0);
      sum += ring.tile[0][127 - i];  // <- here
      give_back(ring, round);
    }
    args.out[i] = sum;
  }
}

}  // namespace tessera::bugs

extern "C" __global__ void stage_loaded_while_read__broken(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ void stage_loaded_while_read__intact(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
