// The readers wait for the same parity in every round. From the third on, the phase that they mean
// is long over: they read a stage that is being loaded, or run so far ahead that the loader never
// meets the phase that it waits for.
#include "tests/kernels/bugs/ring.h"

namespace tessera::bugs {

template <bool intact>
__device__ void kernel(Args args) {
  __shared__ Ring ring;
  const int i = threadIdx.x, rounds = args.n / kReaders;
  if (i == 0) init(ring);
  __syncthreads();
  if (i == kLoader) {
    for (int round = 0; round < rounds; ++round) {
      const auto [stage, parity] = turn_of(round);
      ptx::mbarrier_wait_parity(ring.consumed[stage], parity ^ 1);  // <- here
      ptx::mbarrier_arrive_expect_tx(ring.loaded[stage], kStageBytes);
      ptx::bulk_load(ring.tile[stage], &args.in[round * kReaders], kStageBytes,  // <- here
                     ring.loaded[stage]);
    }
  } else if (i < kReaders) {
    float sum = 0;
    for (int round = 0; round < rounds; ++round) {
      const auto [stage, parity] = turn_of(round);
      ptx::mbarrier_wait_parity(ring.loaded[stage], intact ? parity : 0);  // <- here
      sum += ring.tile[stage][127 - i];                                    // <- here
      give_back(ring, stage);
    }
    args.out[i] = sum;
  }
}

}  // namespace tessera::bugs

extern "C" __global__ void wait_for_wrong_parity__broken(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ void wait_for_wrong_parity__intact(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
