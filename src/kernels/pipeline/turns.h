// Two warpgroups that take turns at the tensor cores: one multiplies while the other stores. The
// order is that of the ring, so none waits for a stage before the other has waited for all earlier
// ones: parity tells only two phases apart.
#pragma once

#include "kernels/ptx/named_barrier.h"

namespace tessera::pipeline {

// Named barriers, one a warpgroup; 0 is __syncthreads().
struct Turns {
  static constexpr int kThreads = 2 * 128;

  __device__ static void wait(int consumer) { ptx::barrier_sync(1 + consumer, kThreads); }
  __device__ static void pass_to(int consumer) { ptx::barrier_arrive(1 + consumer, kThreads); }
};

}  // namespace tessera::pipeline
