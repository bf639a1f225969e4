// How wgmma finds an operand tile in shared memory: 64 bits, drawn here like the manual's figure.
// PTX ISA: matrix descriptor format
#pragma once

#include <cstdint>

#include "kernels/ptx/address.h"
#include "kernels/ptx/swizzle.h"

namespace tessera::ptx {

// Distances in bytes, multiples of 16.
struct WgmmaLayout {
  std::uint32_t leading;  // swizzled and K-major: ignored; else from a core matrix to the next one
  std::uint32_t stride;   // from a group of eight rows to the next one
  WgmmaSwizzle swizzle;
};

// K-major tile with rows of 128 bytes, 128-byte swizzle, as a tensor copy leaves it: 64 16-bit
// elements a row. It begins on a multiple of 1024 bytes; a step along k is a step of the address.
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
