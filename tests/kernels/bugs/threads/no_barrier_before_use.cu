// Threads read what other warps are still writing: the barrier between the two is missing.
#include "tests/kernels/bugs/args.h"

namespace tessera::bugs {

template <bool intact>
__device__ void kernel(Args args) {
  __shared__ float tile[128];  // one element a thread
  const int i = threadIdx.x;
  tile[i] = args.in[i];  // <- here
  if (intact) __syncthreads();
  args.out[i] = tile[127 - i];  // <- here
}

}  // namespace tessera::bugs

extern "C" __global__ void no_barrier_before_use__broken(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ void no_barrier_before_use__intact(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
