// The last block is not full, and nobody asks whether the element exists.
#include "tests/kernels/bugs/args.h"

namespace tessera::bugs {

template <bool intact>
__device__ void kernel(Args args) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (intact && i >= args.n) return;
  args.out[i] = args.in[i];  // <- here
}

}  // namespace tessera::bugs

extern "C" __global__ void tail_out_of_bounds__broken(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ void tail_out_of_bounds__intact(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
