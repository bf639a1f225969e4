// The meaning of Op::flags for ldmatrix, stmatrix, movmatrix and the transfers of wmma, in addition
// to that of flags.h for the memory.
#pragma once

#include <cstdint>

namespace tessera::vgpu {

constexpr std::uint32_t kTransposeTiles = 1u << 16;  // .trans
constexpr std::uint32_t kTileCountShift = 17;        // x1, x2, x4: the number itself
constexpr std::uint32_t kTileCountMask = 7;

// Flags of mma.m8n8k4 on halves.
constexpr std::uint32_t kAByColumns = 1, kBByRows = 2;

}  // namespace tessera::vgpu
