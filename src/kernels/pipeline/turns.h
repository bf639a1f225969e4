// Two warpgroups alternate on the tensor cores: one multiplies while the other stores. WHY in the
// order of the ring: a warpgroup must not wait for a stage before the other warpgroup has waited
// for all earlier stages, because the parity of a barrier distinguishes only two phases.
#pragma once

#include "kernels/ptx/named_barrier.h"

namespace tessera::pipeline {

// Uses one named barrier per warpgroup; barrier 0 is __syncthreads().
struct Turns {
  static constexpr int kThreads = 2 * 128;

  __device__ static void wait(int consumer) { ptx::barrier_sync(1 + consumer, kThreads); }
  __device__ static void pass_to(int consumer) { ptx::barrier_arrive(1 + consumer, kThreads); }
};

}  // namespace tessera::pipeline
