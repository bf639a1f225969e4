// Asynchronous copies from global to shared memory, without registers (sm_80). A thread collects
// its own copies in groups. After it has waited for a group, the copies are visible to itself;
// other threads see them only after a barrier.
//
// WHY inline assembly: libcu++ has no function for the instruction, only for whole pipelines.
#pragma once

#include <cstdint>

#include "kernels/ptx/address.h"

namespace tessera::ptx {

// Copies 4, 8 or 16 bytes through L1; addresses are multiples of that number. Only the first
// `valid_bytes` are read; the rest becomes zero: a tail needs no branch.  PTX ISA: cp.async.ca
template <int kBytes>
__device__ inline void cp_async(void* to_shared, const void* from_global,
                                std::uint32_t valid_bytes = kBytes) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16);
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
               :
               : "r"(shared_address(to_shared)), "l"(__cvta_generic_to_global(from_global)),
                 "n"(kBytes), "r"(valid_bytes)
               : "memory");
}

// Copies 16 bytes, bypassing L1: for tiles that only this CTA reads.        PTX ISA: cp.async.cg
__device__ inline void cp_async_past_l1(void* to_shared, const void* from_global,
                                        std::uint32_t valid_bytes = 16) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :
               : "r"(shared_address(to_shared)), "l"(__cvta_generic_to_global(from_global)),
                 "r"(valid_bytes)
               : "memory");
}

// Closes the thread's current group; an empty group counts too.    PTX ISA: cp.async.commit_group
__device__ inline void cp_async_commit_group() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits until at most the newest kPending groups of the thread are unfinished.
// PTX ISA: cp.async.wait_group
template <int kPending>
__device__ inline void cp_async_wait_group() {
  asm volatile("cp.async.wait_group %0;" : : "n"(kPending) : "memory");
}

// Waits for all copies of the thread, committed or not.            PTX ISA: cp.async.wait_all
__device__ inline void cp_async_wait_all() { asm volatile("cp.async.wait_all;" ::: "memory"); }

}  // namespace tessera::ptx
