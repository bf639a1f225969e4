// A barrier object in shared memory (sm_80, with transactions sm_90). A phase ends when all
// expected arrivals and all expected bytes have arrived; the next phase then begins automatically.
// Phases have a parity: 0, 1, 0, 1, ... A new barrier is in a phase of parity 0, so a wait for
// parity 1 returns immediately.
//
// The functions wrap libcu++ if it has the instruction. WHY inline assembly for the other
// functions: libcu++ has no suitable form of their instructions.
#pragma once

#include <cstdint>
#include <cuda/ptx>

#include "kernels/ptx/address.h"

namespace tessera::ptx {

using Mbarrier = std::uint64_t;  // opaque; 8-byte aligned, in shared memory

// Called by one thread. Before other threads use the object, a barrier must follow; before other
// CTAs or copies use it, fence_mbarrier_init() or a proxy fence.  PTX ISA: mbarrier.init
__device__ inline void mbarrier_init(Mbarrier& barrier, std::uint32_t arrivals) {
  cuda::ptx::mbarrier_init(&barrier, arrivals);
}

// Makes the barrier's 8 bytes plain memory again.                        PTX ISA: mbarrier.inval
__device__ inline void mbarrier_inval(Mbarrier& barrier) {
  asm volatile("mbarrier.inval.shared.b64 [%0];" : : "r"(shared_address(&barrier)) : "memory");
}

// Arrives. Earlier accesses of the thread are visible to waiters.       PTX ISA: mbarrier.arrive
__device__ inline void mbarrier_arrive(Mbarrier& barrier) {
  cuda::ptx::mbarrier_arrive(cuda::ptx::sem_release, cuda::ptx::scope_cta, cuda::ptx::space_shared,
                             &barrier);
}

// Arrives at a barrier of any CTA of the cluster, addressed with map_to_cta().
__device__ inline void mbarrier_arrive_cluster(Mbarrier& barrier) {
  cuda::ptx::mbarrier_arrive(cuda::ptx::sem_release, cuda::ptx::scope_cluster,
                             cuda::ptx::space_cluster, &barrier);
}

// Arrives in CTA `rank`, for a thread that has only read and so has no writes to make visible.
//
// HW: a release at cluster scope is MEMBAR.ALL.GPU. Executed once per stage of 64 k, it slowed BF16
// products on an H200 down more than anything else.
__device__ inline void mbarrier_arrive_after_reads(Mbarrier& mine, std::uint32_t rank) {
  asm volatile(
      "{\n\t.reg .b32 theirs;\n\t"
      "mapa.shared::cluster.u32 theirs, %0, %1;\n\t"
      "mbarrier.arrive.release.cta.shared::cluster.b64 _, [theirs];\n\t}"
      :
      : "r"(shared_address(&mine)), "r"(rank)
      : "memory");
}

// Expects `bytes` more in this phase, then arrives.            PTX ISA: mbarrier.arrive.expect_tx
__device__ inline void mbarrier_arrive_expect_tx(Mbarrier& barrier, std::uint32_t bytes) {
  cuda::ptx::mbarrier_arrive_expect_tx(cuda::ptx::sem_release, cuda::ptx::scope_cta,
                                       cuda::ptx::space_shared, &barrier, bytes);
}

// Expects `bytes` more in this phase, without arriving.               PTX ISA: mbarrier.expect_tx
__device__ inline void mbarrier_expect_tx(Mbarrier& barrier, std::uint32_t bytes) {
  cuda::ptx::mbarrier_expect_tx(cuda::ptx::sem_relaxed, cuda::ptx::scope_cta,
                                cuda::ptx::space_shared, &barrier, bytes);
}

// True if the phase of this parity is over; false may also mean "not yet sure".
// PTX ISA: mbarrier.try_wait
__device__ inline bool mbarrier_try_wait_parity(Mbarrier& barrier, std::uint32_t parity) {
  return cuda::ptx::mbarrier_try_wait_parity(&barrier, parity);
}

// Like mbarrier_try_wait_parity; also makes accesses before other CTAs' arrivals visible.
__device__ inline bool mbarrier_try_wait_parity_cluster(Mbarrier& barrier, std::uint32_t parity) {
  return cuda::ptx::mbarrier_try_wait_parity(cuda::ptx::sem_acquire, cuda::ptx::scope_cluster,
                                             &barrier, parity);
}

// Returns when the phase of this parity is over.
__device__ inline void mbarrier_wait_parity(Mbarrier& barrier, std::uint32_t parity) {
  while (!mbarrier_try_wait_parity(barrier, parity)) {
  }
}
__device__ inline void mbarrier_wait_parity_cluster(Mbarrier& barrier, std::uint32_t parity) {
  while (!mbarrier_try_wait_parity_cluster(barrier, parity)) {
  }
}

// Like mbarrier_try_wait_parity, for inner loops: `address` is shared_address(barrier), 32 bits.
__device__ inline bool mbarrier_try_wait_parity_at(std::uint32_t address, std::uint32_t parity) {
  std::uint32_t over;
  asm volatile(
      "{\n\t.reg .pred over;\n\t"
      "mbarrier.try_wait.parity.shared.b64 over, [%1], %2;\n\t"
      "selp.u32 %0, 1, 0, over;\n\t}"
      : "=r"(over)
      : "r"(address), "r"(parity)
      : "memory");
  return over != 0;
}
__device__ inline void mbarrier_wait_parity_at(std::uint32_t address, std::uint32_t parity) {
  while (!mbarrier_try_wait_parity_at(address, parity)) {
  }
}

// Arrives when all earlier cp.async of the thread are done. mbarrier_init() must count the
// arrival.                                           PTX ISA: cp.async.mbarrier.arrive.noinc
__device__ inline void cp_async_mbarrier_arrive(Mbarrier& barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];"
               :
               : "r"(shared_address(&barrier))
               : "memory");
}

}  // namespace tessera::ptx
