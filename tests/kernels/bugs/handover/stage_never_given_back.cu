// The readers take what is loaded and never say that they are done: the loader waits for ever.
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
      ptx::bulk_load(ring.tile[stage], &args.in[round * kReaders], kStageBytes, ring.loaded[stage]);
    }
  } else if (i < kReaders) {
    float sum = 0;
    for (int round = 0; round < rounds; ++round) {
      const auto [stage, parity] = turn_of(round);
      ptx::mbarrier_wait_parity(ring.loaded[stage], parity);  // <- here
      sum += ring.tile[stage][127 - i];
      if (intact) give_back(ring, stage);
    }
    args.out[i] = sum;
  }
}

}  // namespace tessera::bugs

extern "C" __global__ void stage_never_given_back__broken(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ void stage_never_given_back__intact(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
