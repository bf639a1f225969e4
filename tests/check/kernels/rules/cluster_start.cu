// A block of a cluster stores into the shared memory of the other one.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) gives_away(unsigned* out) {
  __shared__ unsigned mine[32];
  cg::cluster_group cluster = cg::this_cluster();
#ifdef MEETS
  cluster.sync();
#endif
#ifdef MEETS_RELAXED
  __cluster_barrier_arrive_relaxed();
  __cluster_barrier_wait();
#endif
  unsigned* theirs = cluster.map_shared_rank(mine, 1 - cluster.block_rank());
  theirs[threadIdx.x] = blockIdx.x + threadIdx.x;
  cluster.sync();
  out[blockIdx.x * 32 + threadIdx.x] = mine[threadIdx.x];
}
