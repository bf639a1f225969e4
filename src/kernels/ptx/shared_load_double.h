// A 64-bit load of shared memory that stays one.
//
// Inline assembly, and volatile: neighbouring loads otherwise become one of 128 bits, whose halves
// must be moved where an instruction wants them in registers that are no neighbours.
#pragma once

#include "kernels/ptx/address.h"

namespace tessera::ptx {

// The double at `from` in shared memory of this CTA.                           PTX ISA: ld.shared
__device__ inline double load_shared_double(const void* from) {
  double value;
  asm volatile("ld.volatile.shared.f64 %0, [%1];" : "=d"(value) : "r"(shared_address(from)));
  return value;
}

}  // namespace tessera::ptx
