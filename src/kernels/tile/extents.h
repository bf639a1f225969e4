// Extents that tiles of tensor cores follow. Pure C++: host code plans by them.
#pragma once

namespace tessera::tile {

inline constexpr int kWarpgroup = 128;   // threads
inline constexpr int kWgmmaM = 64;       // rows of one instruction, sixteen a warp
inline constexpr int kRowBytes = 128;    // of a shared tile. HW: the widest swizzle
inline constexpr int kAtomBytes = 1024;  // the swizzle's pattern: eight rows

// Rows of A that a warpgroup brings in registers: of two instructions, 32 a warp.
inline constexpr int kFragmentRows = 128;

// N of the widest wgmma that divides a tile of n. HW: a multiple of 8, at most 256.
constexpr int wgmma_n(int n) {
  int parts = (n + 255) / 256;
  while (parts < n && (n % parts != 0 || n / parts % 8 != 0)) ++parts;
  return n / parts;
}

// How many rows of a panel one tensor copy moves. HW: an extent of a box is at most 256 (cuda.h,
// cuTensorMapEncodeTiled).
constexpr int rows_of_copy(int rows) {
  int copies = (rows + 255) / 256;
  while (rows % copies != 0) ++copies;
  return rows / copies;
}

}  // namespace tessera::tile
