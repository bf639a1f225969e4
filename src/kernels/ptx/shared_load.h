// A 128-bit load of shared memory that the compiler does not move: an inner loop that is scheduled
// by hand determines when each fragment is loaded.
//
// WHY inline assembly: the compiler moves plain loads, and recomputes their addresses.
#pragma once

#include <cstdint>

namespace tessera::ptx {

// Loads four floats of this CTA's shared memory at byte `address` + kOffset, a multiple of 16.
// PTX ISA: ld.shared
template <int kOffset>
__device__ inline void load_shared(float (&to)[4], std::uint32_t address) {
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4 + %5];"
               : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
               : "r"(address), "n"(kOffset));
}

}  // namespace tessera::ptx
