// Instructions of the asynchronous families name shared memory by 32-bit addresses of its own
// window, while C++ pointers are generic.
#pragma once

#include <cstdint>

namespace tessera::ptx {

// Address of shared memory of this CTA (or, through map_to_cta, of another one of the cluster).
__device__ inline std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

// The same number, but computed once: without this the compiler derives addresses of shared memory
// anew in every iteration of a loop, five instructions each, rather than keep a register.
__device__ inline std::uint32_t kept_in_register(std::uint32_t number) {
  asm volatile("" : "+r"(number));
  return number;
}

}  // namespace tessera::ptx
