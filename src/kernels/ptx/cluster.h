// CTAs of a cluster (sm_90): ranks, addresses in other CTAs' shared memory, and a barrier over all
// CTAs. Shared memory of a CTA may be accessed only while that CTA runs, so a cluster barrier must
// follow the last remote access.
//
// The barrier and the ranks wrap libcu++, which has no mapa for pointers of any type.
#pragma once

#include <cstdint>
#include <cuda/ptx>

namespace tessera::ptx {

// The CTA's rank, and the number of CTAs. PTX ISA: %cluster_ctarank, %cluster_nctarank
__device__ inline std::uint32_t cluster_rank() { return cuda::ptx::get_sreg_cluster_ctarank(); }
__device__ inline std::uint32_t cluster_size() { return cuda::ptx::get_sreg_cluster_nctarank(); }

// The address in CTA `rank` of the variable that is at `mine` in this CTA.      PTX ISA: mapa
template <typename T>
__device__ inline T* map_to_cta(T* mine, std::uint32_t rank) {
  std::uint64_t theirs;
  asm("mapa.u64 %0, %1, %2;"
      : "=l"(theirs)
      : "l"(reinterpret_cast<std::uint64_t>(mine)), "r"(rank));
  return reinterpret_cast<T*>(theirs);
}

// All threads of the warp call it; their earlier accesses are visible after the wait.
// PTX ISA: barrier.cluster.arrive, barrier.cluster.wait
__device__ inline void cluster_arrive() { cuda::ptx::barrier_cluster_arrive(); }
__device__ inline void cluster_wait() { cuda::ptx::barrier_cluster_wait(); }
__device__ inline void cluster_sync() {
  cluster_arrive();
  cluster_wait();
}

// Arrives without ordering memory accesses: sufficient after fence_mbarrier_init().
__device__ inline void cluster_arrive_relaxed() {
  cuda::ptx::barrier_cluster_arrive(cuda::ptx::sem_relaxed);
}

}  // namespace tessera::ptx
