// Some threads of a warp write their element and end, the others meet at the barrier: nothing
// orders what those wrote before what the rest of the block reads.
#include "tests/kernels/bugs/args.h"

namespace tessera::bugs {

template <bool intact>
__device__ void kernel(Args args) {
  __shared__ float tile[128];
  const int i = threadIdx.x;
  tile[i] = args.in[i];  // <- here
  if (intact) __syncthreads();
  if (i >= 112) {
    args.out[i] = args.in[127 - i];
    return;
  }
  if (!intact) __syncthreads();
  args.out[i] = tile[127 - i];  // <- here
}

}  // namespace tessera::bugs

extern "C" __global__ void lanes_end_before_barrier__broken(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ void lanes_end_before_barrier__intact(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
