// An operand tile in shared memory for copies by threads, at most sixteen bytes at a time, and for
// loads of fragments by warps. Rows have 128 bytes for either contiguous index of the operand; a
// tile wider than a row consists of several panels of such rows:
//
//   along k      one row for each m (or n), one panel for each 128 bytes of k
//   along outer  one row for each k, one panel for each 128 bytes of m (or n)
//
// The row's number determines an exchange of the row's eight 16-byte chunks, so that loads have no
// bank conflicts. There is no padding. Pure constexpr except for the bytes: the host tests the
// map.
#pragma once

#include "base/config.h"

namespace tessera::tile {

// The number that is combined by xor with a row's chunk numbers. It only moves bits of the row's
// number, so swizzle(a + b) is swizzle(a) ^ swizzle(b) for rows a and b without a common bit.
//
// VectorSwizzle is for lanes that load 128 bits each, in the layout of dmma_lanes.h.
struct VectorSwizzle {
  static constexpr int of(int row, bool along_k) {
    return along_k ? row / 8 % 2 * 4 : row / 2 % 4 + row % 2 * 4;
  }
};
// For lanes that load 64 bits each from a tile along k, in the layout of dmma_lanes.h.
struct ElementSwizzle {
  static constexpr int of(int row, bool) { return row / 8 % 2 * 4 + row / 2 % 2 * 2; }
};
// The swizzle for loads of one chunk each from eight rows (ldmatrix), or two each from four rows.
struct MatrixSwizzle {
  static constexpr int of(int row, bool) { return row % 4 * 2 + row / 4 % 2; }
};

// `outer` is m of A, n of B.
template <class T, int outer_, int k_, Major major_, class Swizzle = VectorSwizzle>
struct SwizzledTile {
  using Element = T;
  static constexpr bool kAlongK = major_ == Major::kK;
  static constexpr int kOuter = outer_, kK = k_;
  static constexpr int kRowBytes = 128, kChunkBytes = 16;
  static constexpr int kRow = kRowBytes / sizeof(T), kChunk = kChunkBytes / sizeof(T);  // elements
  static constexpr int kAlong = kAlongK ? kK : kOuter;  // extent along the rows
  static constexpr int kRows = kAlongK ? kOuter : kK;   // per panel
  static constexpr int kPanelBytes = kRows * kRowBytes;
  static constexpr int kBytes = kAlong / kRow * kPanelBytes;
  static_assert(kAlong % kRow == 0 && kRows % 8 == 0);

  alignas(kRowBytes) unsigned char bytes[kBytes];

  static constexpr int swizzle(int row) { return Swizzle::of(row, kAlongK); }

  // The offset of element (outer, k), in bytes.
  static constexpr int offset(int outer, int k) {
    const int along = kAlongK ? k : outer, row = kAlongK ? outer : k;
    return along / kRow * kPanelBytes + row * kRowBytes +
           (along % kRow / kChunk ^ swizzle(row)) * kChunkBytes +
           along % kChunk * static_cast<int>(sizeof(T));
  }
  // Returns the offset `rows` rows further. The number of the row at `offset` and `rows` % 16 must
  // have no common bit.
  static constexpr int rows_further(int offset, int rows) {
    return (offset ^ swizzle(rows) * kChunkBytes) + rows * kRowBytes;
  }
};

}  // namespace tessera::tile
