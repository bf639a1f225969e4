// The next round overwrites a tile that slower warps still read.
#include "tests/kernels/bugs/args.h"

namespace tessera::bugs {

template <bool intact>
__device__ void kernel(Args args) {
  __shared__ float tile[128];  // one element a thread
  const int i = threadIdx.x;
  float sum = 0;
#pragma unroll 1
  for (int first = 0; first < args.n; first += 128) {
    tile[i] = args.in[first + i];  // <- here
    __syncthreads();
    sum += tile[127 - i];  // <- here
    if (intact) __syncthreads();
  }
  args.out[i] = sum;
}

}  // namespace tessera::bugs

extern "C" __global__ void no_barrier_at_loop_end__broken(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ void no_barrier_at_loop_end__intact(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
