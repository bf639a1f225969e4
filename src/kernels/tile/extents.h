// Extents of tiles for tensor cores. Pure C++: host code uses them for plans.
#pragma once

namespace tessera::tile {

inline constexpr int kWarpgroup = 128;   // threads
inline constexpr int kWgmmaM = 64;       // rows of one instruction, sixteen per warp
inline constexpr int kRowBytes = 128;    // per row of a shared tile. HW: the widest swizzle
inline constexpr int kAtomBytes = 1024;  // the swizzle's pattern: eight rows

// Rows of A that a warpgroup loads to registers, for two instructions: 32 per warp.
inline constexpr int kFragmentRows = 128;

// The N of the widest wgmma that divides a tile of n. HW: N is a multiple of 8, at most 256.
constexpr int wgmma_n(int n) {
  int parts = (n + 255) / 256;
  while (parts < n && (n % parts != 0 || n / parts % 8 != 0)) ++parts;
  return n / parts;
}

// The number of rows of a panel that one tensor copy moves. HW: an extent of a box is at most 256
// (cuda.h, cuTensorMapEncodeTiled).
constexpr int rows_of_copy(int rows) {
  int copies = (rows + 255) / 256;
  while (rows % copies != 0) ++copies;
  return rows / copies;
}

}  // namespace tessera::tile
