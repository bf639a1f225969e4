// The meaning of Op::flags for ldmatrix, stmatrix, movmatrix and the loads and stores of wmma. The
// bits for the memory are those of flags.h.
#pragma once

#include <cstdint>

namespace tessera::vgpu {

constexpr std::uint32_t kTransposeTiles = 1u << 16;  // .trans
constexpr std::uint32_t kTileCountShift = 17;        // the number of tiles: 1, 2 or 4
constexpr std::uint32_t kTileCountMask = 7;

// Flags of mma.m8n8k4 on FP16.
constexpr std::uint32_t kAByColumns = 1, kBByRows = 2;

}  // namespace tessera::vgpu
