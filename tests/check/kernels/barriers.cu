// Barrier objects that never end a phase, of which several are waited for.
#include <cuda/barrier>

#include "kernels/ptx/mbarrier.h"

namespace ptx = tessera::ptx;

extern "C" {

// One warp fills a ring of two stages, the other empties it. Each arrival is that of all 32 lanes.
// `given` is what the object of an empty stage is initialised for, and `lanes` give it back.
__global__ void hands_on(int* out, int given, int lanes) {
  constexpr int kRounds = 6;
  __shared__ ptx::Mbarrier full[2], empty[2];
  __shared__ int stage[2][32];
  const int lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    for (int s = 0; s < 2; ++s) {
      ptx::mbarrier_init(full[s], 32);
      ptx::mbarrier_init(empty[s], given);
    }
  }
  __syncthreads();
  for (int i = 0; i < kRounds; ++i) {
    const int s = i % 2, phase = i / 2 % 2;
    if (threadIdx.x < 32) {
      ptx::mbarrier_wait_parity(empty[s], phase ^ 1);
      stage[s][lane] = i + lane;
      ptx::mbarrier_arrive(full[s]);
    } else {
      ptx::mbarrier_wait_parity(full[s], phase);
      out[32 * i + lane] = stage[s][31 - lane];
      if (lane < lanes) ptx::mbarrier_arrive(empty[s]);
    }
  }
}

// Its waits read a timer, and only the first n threads come.
__global__ void waits_with_a_timer(int* out, int n) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ Barrier barrier;
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  if (threadIdx.x < n) barrier.arrive_and_wait();
  out[threadIdx.x] = 1;
}
}
