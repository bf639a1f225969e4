// A lane that waited for its copies reads what its neighbour has copied: the warp must meet first.
#include "kernels/ptx/cp_async.h"
#include "tests/kernels/bugs/args.h"

namespace tessera::bugs {

template <bool intact>
__device__ void kernel(Args args) {
  __shared__ float tile[32];  // one element a thread
  const int i = threadIdx.x;
  ptx::cp_async<4>(&tile[i], &args.in[i]);  // <- here
  ptx::cp_async_commit_group();
  ptx::cp_async_wait_group<0>();
  if (intact) __syncwarp();
  args.out[i] = tile[31 - i];  // <- here
}

}  // namespace tessera::bugs

extern "C" __global__ void cp_async_without_syncwarp__broken(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ void cp_async_without_syncwarp__intact(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
