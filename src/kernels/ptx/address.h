// Addresses of shared memory. Asynchronous instructions take 32-bit addresses in the window of
// shared memory, while C++ pointers are generic.
#pragma once

#include <cstdint>

namespace tessera::ptx {

// The address in shared memory of this CTA (or, after map_to_cta, of another CTA of the cluster).
__device__ inline std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

// Returns the number unchanged, and makes the compiler keep it in a register. Without this, it
// recomputes addresses of shared memory in every iteration of a loop, five instructions each.
__device__ inline std::uint32_t kept_in_register(std::uint32_t number) {
  asm volatile("" : "+r"(number));
  return number;
}

}  // namespace tessera::ptx
