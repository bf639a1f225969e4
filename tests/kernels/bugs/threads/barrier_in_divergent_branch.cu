// A barrier that only some lanes of a warp reach: the guard of a tail was put around it.
#include "tests/kernels/bugs/args.h"

namespace tessera::bugs {

template <bool intact>
__device__ void kernel(Args args) {
  __shared__ float tile[128];  // one element a thread
  const int i = threadIdx.x;
  tile[i] = 0;
  if (intact) {
    if (i < args.n) tile[i] = args.in[i];
    __syncthreads();
  } else if (i < args.n) {
    tile[i] = args.in[i];
    __syncthreads();  // <- here
  }
  args.out[i] = tile[127 - i];
}

}  // namespace tessera::bugs

extern "C" __global__ void barrier_in_divergent_branch__broken(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ void barrier_in_divergent_branch__intact(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
