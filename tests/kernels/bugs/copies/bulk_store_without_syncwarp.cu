// One lane stores what all lanes of its warp have written: they must meet first.
#include "kernels/ptx/bulk_copy.h"
#include "kernels/ptx/fence.h"
#include "tests/kernels/bugs/args.h"

namespace tessera::bugs {

template <bool intact>
__device__ void kernel(Args args) {
  __shared__ alignas(128) float staged[32];  // one element a thread
  const int i = threadIdx.x;
  staged[31 - i] = args.in[i];  // <- here
  ptx::fence_proxy_async_shared();
  if (intact) __syncwarp();
  if (i == 0) {
    ptx::bulk_store(args.out, staged, sizeof(staged));  // <- here
    ptx::bulk_commit_group();
    ptx::bulk_wait_group_read<0>();
  }
}

}  // namespace tessera::bugs

extern "C" __global__ void bulk_store_without_syncwarp__broken(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ void bulk_store_without_syncwarp__intact(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
