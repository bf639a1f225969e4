// Thread blocks of a cluster (sm_90): who am I, where does my neighbour keep this variable, and a
// barrier over all of them. Shared memory of a CTA may be touched only while that CTA runs: the
// last remote access comes before a cluster barrier.
//
// The barrier is from libcu++; mapa on pointers and the ranks have no function of the right type.
#pragma once

#include <cstdint>
#include <cuda/ptx>

namespace tessera::ptx {

// PTX ISA: %cluster_ctarank, %cluster_nctarank
__device__ inline std::uint32_t cluster_rank() { return cuda::ptx::get_sreg_cluster_ctarank(); }
__device__ inline std::uint32_t cluster_size() { return cuda::ptx::get_sreg_cluster_nctarank(); }

// Where CTA `rank` keeps what this CTA keeps at `mine`, in shared memory.       PTX ISA: mapa
template <typename T>
__device__ inline T* map_to_cta(T* mine, std::uint32_t rank) {
  std::uint64_t theirs;
  asm("mapa.u64 %0, %1, %2;"
      : "=l"(theirs)
      : "l"(reinterpret_cast<std::uint64_t>(mine)), "r"(rank));
  return reinterpret_cast<T*>(theirs);
}

// All threads of the warp; what they did before is seen behind the wait.
// PTX ISA: barrier.cluster.arrive, barrier.cluster.wait
__device__ inline void cluster_arrive() { cuda::ptx::barrier_cluster_arrive(); }
__device__ inline void cluster_wait() { cuda::ptx::barrier_cluster_wait(); }
__device__ inline void cluster_sync() {
  cluster_arrive();
  cluster_wait();
}

// Orders nothing but the arrival itself: enough behind a fence_mbarrier_init().
__device__ inline void cluster_arrive_relaxed() {
  cuda::ptx::barrier_cluster_arrive(cuda::ptx::sem_relaxed);
}

}  // namespace tessera::ptx
