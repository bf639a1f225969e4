// A staging tile is filled again while the copy of its last contents may still read it: the wait
// for that copy comes one iteration too late.
#include "kernels/ptx/bulk_copy.h"
#include "kernels/ptx/fence.h"
#include "tests/kernels/bugs/args.h"

namespace tessera::bugs {

template <bool intact>
__device__ void kernel(Args args) {
  __shared__ alignas(128) float staged[128];  // one element a thread
  const int i = threadIdx.x;
#pragma unroll 1
  for (int first = 0; first < args.n; first += 128) {
    if (i == 0) ptx::bulk_wait_group_read<intact ? 0 : 1>();
    __syncthreads();
    staged[i] = args.in[first + i];  // <- here
    ptx::fence_proxy_async_shared();
    __syncthreads();
    if (i == 0) {
      ptx::bulk_store(&args.out[first], staged, sizeof(staged));  // <- here
      ptx::bulk_commit_group();
    }
  }
  if (i == 0) ptx::bulk_wait_group<0>();
}

}  // namespace tessera::bugs

extern "C" __global__ void store_drained_late__broken(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ void store_drained_late__intact(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
