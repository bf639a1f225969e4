// Two groups are in flight and the older one is needed: waiting until two are left waits for
// nothing.
#include "kernels/ptx/cp_async.h"
#include "tests/kernels/bugs/args.h"

namespace tessera::bugs {

template <bool intact>
__device__ void kernel(Args args) {
  __shared__ float tile[2][128];  // stage x element of a thread
  const int i = threadIdx.x;
  for (int stage = 0; stage < 2; ++stage) {
    ptx::cp_async<4>(&tile[stage][i], &args.in[stage * 128 + i]);  // <- here
    ptx::cp_async_commit_group();
  }
  ptx::cp_async_wait_group<intact ? 1 : 2>();
  __syncthreads();
  float sum = tile[0][127 - i];  // <- here
  ptx::cp_async_wait_group<0>();
  __syncthreads();
  args.out[i] = sum + tile[1][127 - i];
}

}  // namespace tessera::bugs

extern "C" __global__ void cp_async_wait_leaves_too_many__broken(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ void cp_async_wait_leaves_too_many__intact(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
