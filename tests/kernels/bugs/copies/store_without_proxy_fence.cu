// Threads write the staged tile, a copy reads it: the barrier orders threads, not the two proxies.
#include "kernels/ptx/bulk_copy.h"
#include "kernels/ptx/fence.h"
#include "tests/kernels/bugs/args.h"

namespace tessera::bugs {

template <bool intact>
__device__ void kernel(Args args) {
  __shared__ alignas(128) float staged[128];  // one element a thread
  const int i = threadIdx.x;
  staged[127 - i] = args.in[i];  // <- here
  if (intact) ptx::fence_proxy_async_shared();
  __syncthreads();
  if (i == 0) {
    ptx::bulk_store(args.out, staged, sizeof(staged));  // <- here
    ptx::bulk_commit_group();
    ptx::bulk_wait_group<0>();
  }
}

}  // namespace tessera::bugs

extern "C" __global__ void store_without_proxy_fence__broken(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ void store_without_proxy_fence__intact(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
