// setmaxnreg is for a whole warpgroup: here one of its warps does it alone.
#include "kernels/ptx/registers.h"
#include "tests/kernels/bugs/args.h"

namespace tessera::bugs {

template <bool intact>
__device__ void kernel(Args args) {
  if (intact || threadIdx.x < 32) ptx::release_registers_to<40>();  // <- here
  args.out[threadIdx.x] = args.in[threadIdx.x];
}

}  // namespace tessera::bugs

extern "C" __global__ void registers_moved_by_one_warp__broken(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ void registers_moved_by_one_warp__intact(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
