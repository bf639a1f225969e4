// Instructions of the asynchronous families name shared memory by 32-bit addresses of its own
// window, while C++ pointers are generic.
#pragma once

#include <cstdint>

namespace tessera::ptx {

// Address of shared memory of this CTA (or, through map_to_cta, of another one of the cluster).
__device__ inline std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

}  // namespace tessera::ptx
