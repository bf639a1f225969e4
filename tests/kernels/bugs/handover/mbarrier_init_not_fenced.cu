// A CTA arrives at its neighbour's barrier object. The arrival at the cluster's barrier is relaxed:
// it hands on no initialisation that no fence has put before it.
#include "kernels/ptx/cluster.h"
#include "kernels/ptx/fence.h"
#include "kernels/ptx/mbarrier.h"
#include "tests/kernels/bugs/args.h"

namespace tessera::bugs {

template <bool intact>
__device__ void kernel(Args args) {
  __shared__ float tile[128];  // one element a thread of the neighbour
  __shared__ ptx::Mbarrier sent;
  const int i = threadIdx.x, element = blockIdx.x * 128 + i;
  if (i == 0) ptx::mbarrier_init(sent, 128);  // <- here
  if (intact) ptx::fence_mbarrier_init();
  ptx::cluster_arrive_relaxed();
  ptx::cluster_wait();
  const std::uint32_t neighbour = ptx::cluster_rank() ^ 1;
  ptx::map_to_cta(tile, neighbour)[i] = args.in[element];
  ptx::mbarrier_arrive_cluster(*ptx::map_to_cta(&sent, neighbour));  // <- here
  ptx::mbarrier_wait_parity_cluster(sent, 0);
  args.out[element] = tile[i];
  ptx::cluster_sync();
}

}  // namespace tessera::bugs

extern "C" __global__ __cluster_dims__(2, 1, 1) void mbarrier_init_not_fenced__broken(
    tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ __cluster_dims__(2, 1, 1) void mbarrier_init_not_fenced__intact(
    tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
