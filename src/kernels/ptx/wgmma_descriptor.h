// The 64-bit descriptor with which wgmma finds an operand tile in shared memory.
// PTX ISA: matrix descriptor format
#pragma once

#include <cstdint>

#include "kernels/ptx/address.h"
#include "kernels/ptx/swizzle.h"

namespace tessera::ptx {

// Distances in bytes, multiples of 16.
struct WgmmaLayout {
  std::uint32_t leading;  // between core matrices; ignored for swizzled K-major tiles
  std::uint32_t stride;   // between groups of eight rows
  WgmmaSwizzle swizzle;
};

// The layout of a K-major tile with rows of 128 bytes and the 128-byte swizzle, as tensor copies
// write it. The tile begins at a multiple of 1024 bytes. A step along k adds to the address.
inline constexpr WgmmaLayout kRowsOf128Bytes{
    .leading = 16, .stride = 1024, .swizzle = WgmmaSwizzle::k128B};

template <int begin, int bits>
constexpr std::uint64_t field(std::uint64_t value) {
  return (value & ((std::uint64_t{1} << bits) - 1)) << begin;
}

constexpr std::uint64_t wgmma_descriptor(std::uint32_t address, WgmmaLayout layout) {
  return field<0, 14>(address >> 4) | field<16, 14>(layout.leading >> 4) |
         field<32, 14>(layout.stride >> 4) |
         field<62, 2>(static_cast<std::uint64_t>(layout.swizzle));
}

__device__ inline std::uint64_t wgmma_descriptor(const void* tile, WgmmaLayout layout) {
  return wgmma_descriptor(shared_address(tile), layout);
}

}  // namespace tessera::ptx
