// The result is staged in the shared memory that held the operands, while other warps still
// multiply.
#include "tests/kernels/bugs/args.h"

namespace tessera::bugs {

template <bool intact>
__device__ void kernel(Args args) {
  __shared__ float memory[128];  // the operand tile, then the staged result
  const int i = threadIdx.x;
  memory[i] = args.in[i];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 128; ++k) sum += memory[k];  // <- here
  if (intact) __syncthreads();
  memory[i] = sum + i;  // <- here
  __syncthreads();
  args.out[i] = memory[127 - i];
}

}  // namespace tessera::bugs

extern "C" __global__ void epilogue_reuses_tile__broken(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ void epilogue_reuses_tile__intact(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
