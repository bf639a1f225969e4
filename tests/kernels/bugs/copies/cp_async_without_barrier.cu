// A thread that waited sees its own copies, not those of its neighbours.
#include "kernels/ptx/cp_async.h"
#include "tests/kernels/bugs/args.h"

namespace tessera::bugs {

template <bool intact>
__device__ void kernel(Args args) {
  __shared__ float tile[128];  // one element a thread
  const int i = threadIdx.x;
  ptx::cp_async<4>(&tile[i], &args.in[i]);  // <- here
  ptx::cp_async_commit_group();
  ptx::cp_async_wait_group<0>();
  if (intact) __syncthreads();
  args.out[i] = tile[127 - i];  // <- here
}

}  // namespace tessera::bugs

extern "C" __global__ void cp_async_without_barrier__broken(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ void cp_async_without_barrier__intact(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
