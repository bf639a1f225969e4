// A copy that goes to both CTAs of a cluster asks only its own readers whether the stage is free.
#include "kernels/ptx/cluster.h"
#include "tests/kernels/bugs/ring.h"

namespace tessera::bugs {

template <bool intact>
__device__ void kernel(Args args) {
  __shared__ Ring ring;
  const int i = threadIdx.x, rounds = args.n / kReaders;
  const std::uint32_t rank = ptx::cluster_rank();
  if (i == 0) {
    init(ring, intact ? 2 * kReaders : kReaders);
    ptx::fence_mbarrier_init();
  }
  ptx::cluster_sync();
  constexpr std::uint32_t kHalf = kStageBytes / 2;
  const int share = rank * kReaders / 2;  // each CTA loads half of the stage for both
  if (i == kLoader) {
    for (int round = 0; round < rounds; ++round) {
      const auto [stage, parity] = turn_of(round);
      ptx::mbarrier_wait_parity_cluster(ring.consumed[stage], parity ^ 1);
      ptx::mbarrier_arrive_expect_tx(ring.loaded[stage], kStageBytes);
      ptx::bulk_load_multicast(&ring.tile[stage][share],  // <- here
                               &args.in[round * kReaders + share], kHalf, ring.loaded[stage], 3);
    }
  } else if (i < kReaders) {
    float sum = 0;
    for (int round = 0; round < rounds; ++round) {
      const auto [stage, parity] = turn_of(round);
      ptx::mbarrier_wait_parity(ring.loaded[stage], parity);
      sum += ring.tile[stage][127 - i];  // <- here
      give_back(ring, stage);
      if (intact) ptx::mbarrier_arrive_cluster(*ptx::map_to_cta(&ring.consumed[stage], rank ^ 1));
    }
    if (rank == 0) args.out[i] = sum;
  }
  ptx::cluster_sync();
}

}  // namespace tessera::bugs

extern "C" __global__ __cluster_dims__(2, 1, 1) void multicast_into_busy_stage__broken(
    tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ __cluster_dims__(2, 1, 1) void multicast_into_busy_stage__intact(
    tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
