// Loads of doubles: a 64-bit load of shared memory that stays one, and a line of global memory that
// the L2 brings ahead of a load.
//
// Own assembly: the first is volatile, since neighbouring loads otherwise become one of 128 bits,
// whose halves must be moved where an instruction wants them in registers that are no neighbours;
// libcu++ has no function for the second.
#pragma once

#include "kernels/ptx/address.h"

namespace tessera::ptx {

// The double at `from` in shared memory of this CTA.                           PTX ISA: ld.shared
__device__ inline double load_shared_double(const void* from) {
  double value;
  asm volatile("ld.volatile.shared.f64 %0, [%1];" : "=d"(value) : "r"(shared_address(from)));
  return value;
}

// Brings the line of global memory that holds `address` to the L2.              PTX ISA: prefetch
__device__ inline void prefetch_to_l2(const double* address) {
  asm volatile("prefetch.global.L2 [%0];" : : "l"(__cvta_generic_to_global(address)));
}

}  // namespace tessera::ptx
