// Loads of doubles: a 64-bit load of shared memory that is never merged with another one, and a
// prefetch of a line of global memory to L2.
//
// WHY inline assembly: the load must be volatile, because the compiler merges neighbouring loads to
// 128 bits; an instruction that needs both halves in separate registers then costs moves. libcu++
// has no function for the prefetch.
#pragma once

#include "kernels/ptx/address.h"

namespace tessera::ptx {

// Loads the double at `from` in shared memory of this CTA.                     PTX ISA: ld.shared
__device__ inline double load_shared_double(const void* from) {
  double value;
  asm volatile("ld.volatile.shared.f64 %0, [%1];" : "=d"(value) : "r"(shared_address(from)));
  return value;
}

// Prefetches the line of global memory that contains `address` to L2.           PTX ISA: prefetch
__device__ inline void prefetch_to_l2(const double* address) {
  asm volatile("prefetch.global.L2 [%0];" : : "l"(__cvta_generic_to_global(address)));
}

}  // namespace tessera::ptx
