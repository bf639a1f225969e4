// Producers and consumers disagree on how many threads a named barrier has.
#include "kernels/ptx/named_barrier.h"
#include "tests/kernels/bugs/args.h"

namespace tessera::bugs {

template <bool intact>
__device__ void kernel(Args args) {
  __shared__ float tile[64];  // written by warps 0 and 1, read by warps 2 and 3
  const int i = threadIdx.x % 64;
  if (threadIdx.x < 64) {
    tile[i] = args.in[i];
    ptx::barrier_arrive(1, intact ? 128 : 96);  // <- here
  } else {
    ptx::barrier_sync(1, 128);  // <- here
    args.out[i] = tile[63 - i];
  }
}

}  // namespace tessera::bugs

extern "C" __global__ void barrier_counts_differ__broken(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ void barrier_counts_differ__intact(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
