// A CTA reads its neighbour's shared memory behind a barrier of its own threads: whether the
// neighbour has written it yet, that barrier does not know.
#include "kernels/ptx/cluster.h"
#include "tests/kernels/bugs/args.h"

namespace tessera::bugs {

template <bool intact>
__device__ void kernel(Args args) {
  __shared__ float tile[128];  // one element a thread
  const int i = threadIdx.x, element = blockIdx.x * 128 + i;
  ptx::cluster_sync();         // both run
  tile[i] = args.in[element];  // <- here
  if (intact) {
    ptx::cluster_sync();
  } else {
    __syncthreads();
  }
  const float* theirs = ptx::map_to_cta(tile, ptx::cluster_rank() ^ 1);
  args.out[element] = theirs[i];  // <- here
  ptx::cluster_sync();
}

}  // namespace tessera::bugs

extern "C" __global__ __cluster_dims__(2, 1, 1) void cluster_reads_too_early__broken(
    tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ __cluster_dims__(2, 1, 1) void cluster_reads_too_early__intact(
    tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
