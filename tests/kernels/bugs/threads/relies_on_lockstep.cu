// A reduction by one warp without __syncwarp: right only while the lanes run in step, which nothing
// has promised since Volta.
#include "tests/kernels/bugs/args.h"

namespace tessera::bugs {

template <bool intact>
__device__ void kernel(Args args) {
  __shared__ float part[32];  // one element a lane
  const int lane = threadIdx.x;
  part[lane] = args.in[lane];
  __syncwarp();
  if (lane < 16) part[lane] += part[lane + 16];  // <- here
  if (intact) __syncwarp();
  if (lane < 8) part[lane] += part[lane + 8];  // <- here
  __syncwarp();
  args.out[lane] = part[lane % 8];
}

}  // namespace tessera::bugs

extern "C" __global__ void relies_on_lockstep__broken(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ void relies_on_lockstep__intact(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
