// Waiting for all groups does not wait for copies that are in no group yet.
#include "kernels/ptx/cp_async.h"
#include "tests/kernels/bugs/args.h"

namespace tessera::bugs {

template <bool intact>
__device__ void kernel(Args args) {
  __shared__ float tile[128];  // one element a thread
  const int i = threadIdx.x;
  ptx::cp_async<4>(&tile[i], &args.in[i]);  // <- here
  if (intact) ptx::cp_async_commit_group();
  ptx::cp_async_wait_group<0>();
  __syncthreads();
  args.out[i] = tile[127 - i];  // <- here
}

}  // namespace tessera::bugs

extern "C" __global__ void cp_async_without_commit__broken(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ void cp_async_without_commit__intact(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
