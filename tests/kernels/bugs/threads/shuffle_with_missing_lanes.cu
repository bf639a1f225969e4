// The mask of a shuffle names 32 lanes, but half of them took the other branch.
#include "tests/kernels/bugs/args.h"

namespace tessera::bugs {

template <bool intact>
__device__ void kernel(Args args) {
  const int lane = threadIdx.x;
  float x = args.in[lane];
  if (lane < 16) {
    x += __shfl_xor_sync(intact ? 0x0000ffffu : 0xffffffffu, x, 1);  // <- here
  }
  args.out[lane] = x;
}

}  // namespace tessera::bugs

extern "C" __global__ void shuffle_with_missing_lanes__broken(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ void shuffle_with_missing_lanes__intact(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
