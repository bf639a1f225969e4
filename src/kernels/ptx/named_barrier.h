// The named barriers 0 to 15 of a CTA, each for some or all of its warps: some of these arrive and
// continue, the others wait. `threads` counts both kinds and is a multiple of 32. __syncthreads()
// also uses barrier 0.
//
// WHY inline assembly: libcu++ has no such functions.
#pragma once

#include <cstdint>

namespace tessera::ptx {

// Arrives and waits; the whole warp must call it.               PTX ISA: barrier.sync.aligned
__device__ inline void barrier_sync(std::uint32_t barrier, std::uint32_t threads) {
  asm volatile("barrier.sync.aligned %0, %1;" : : "r"(barrier), "r"(threads) : "memory");
}
// Arrives and continues.                                        PTX ISA: barrier.arrive.aligned
__device__ inline void barrier_arrive(std::uint32_t barrier, std::uint32_t threads) {
  asm volatile("barrier.arrive.aligned %0, %1;" : : "r"(barrier), "r"(threads) : "memory");
}

}  // namespace tessera::ptx
