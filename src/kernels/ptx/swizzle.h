// Swizzles exchange the 16-byte pieces within each row, so that a column of pieces falls into
// different banks. WHY three types: three encodings of swizzles must never be mixed.
#pragma once

#include <cstdint>

namespace tessera::ptx {

// The encoding in a tensor map (CUtensorMapSwizzle).
enum class TensorMapSwizzle : std::uint8_t { kNone = 0, k32B = 1, k64B = 2, k128B = 3 };
// The encoding in a wgmma matrix descriptor, bits 62-63.
enum class WgmmaSwizzle : std::uint8_t { kNone = 0, k128B = 1, k64B = 2, k32B = 3 };
// The encoding in a tcgen05 matrix descriptor, bits 61-63.
enum class Tcgen05Swizzle : std::uint8_t { kNone = 0, k128B = 2, k64B = 4, k32B = 6 };

// The swizzled byte offset in a tile that is aligned to 1024 bytes, for the 128-byte swizzle: piece
// 0-7 of a 128-byte row becomes piece ^ (row % 8).
constexpr std::uint32_t swizzle_128b(std::uint32_t offset) {
  return offset ^ ((offset >> 3) & 0x70);
}

}  // namespace tessera::ptx
