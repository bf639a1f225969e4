// The tile is filled as far as the matrix goes, and summed to its end.
#include "tests/kernels/bugs/args.h"

namespace tessera::bugs {

template <bool intact>
__device__ void kernel(Args args) {
  __shared__ float tile[128];  // the first n elements, then zeros
  const int i = threadIdx.x;
  if (i < args.n) {
    tile[i] = args.in[i];
  } else if (intact) {
    tile[i] = 0;
  }
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 128; ++k) sum += tile[k];  // <- here
  args.out[i] = sum;
}

}  // namespace tessera::bugs

extern "C" __global__ void tail_of_tile_not_zeroed__broken(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ void tail_of_tile_not_zeroed__intact(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
