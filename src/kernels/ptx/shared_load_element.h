// A 32-bit load of shared memory that the compiler does not move, like the vector loads of
// shared_load.h.
#pragma once

#include <cstdint>

namespace tessera::ptx {

// Loads the float at `address` + kOffset bytes in shared memory of this CTA.
// PTX ISA: ld.shared
template <int kOffset>
__device__ inline void load_shared(float& to, std::uint32_t address) {
  asm volatile("ld.shared.f32 %0, [%1 + %2];" : "=f"(to) : "r"(address), "n"(kOffset));
}

}  // namespace tessera::ptx
