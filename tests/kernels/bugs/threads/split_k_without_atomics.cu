// Two blocks add their share of a sum to the same elements by plain loads and stores.
#include "tests/kernels/bugs/args.h"

namespace tessera::bugs {

template <bool intact>
__device__ void kernel(Args args) {
  const int i = threadIdx.x;
  const float share = args.in[blockIdx.x * blockDim.x + i];
  if (intact) {
    atomicAdd(args.out + i, share);
  } else {
    args.out[i] += share;  // <- here
  }
}

}  // namespace tessera::bugs

extern "C" __global__ void split_k_without_atomics__broken(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ void split_k_without_atomics__intact(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
