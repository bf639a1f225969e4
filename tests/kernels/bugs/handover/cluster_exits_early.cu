// A CTA reads its neighbour's shared memory; nothing keeps the neighbour from having exited.
#include "kernels/ptx/cluster.h"
#include "tests/kernels/bugs/args.h"

namespace tessera::bugs {

template <bool intact>
__device__ void kernel(Args args) {
  __shared__ float tile[128];  // one element a thread
  const int i = threadIdx.x, element = blockIdx.x * 128 + i;
  tile[i] = args.in[element];
  ptx::cluster_sync();
  const float* theirs = ptx::map_to_cta(tile, ptx::cluster_rank() ^ 1);
  args.out[element] = theirs[i];  // <- here
  if (intact) ptx::cluster_sync();
}

}  // namespace tessera::bugs

extern "C" __global__ __cluster_dims__(2, 1, 1) void cluster_exits_early__broken(
    tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ __cluster_dims__(2, 1, 1) void cluster_exits_early__intact(
    tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
