// An operand tile in shared memory that threads copy to, sixteen bytes or fewer at a time, and from
// which warps load fragments. Rows are 128 bytes, whichever index of the operand is contiguous; a
// tile wider than a row is several panels of such rows:
//
//   along k      rows are m (or n), one panel for each 128 bytes of k
//   along outer  rows are k, one panel for each 128 bytes of m (or n)
//
// The eight chunks of a row, 16 bytes each, are exchanged by the row's number, so that the lanes
// that load together meet in no bank. Nothing is padded. Pure constexpr but for the bytes: the host
// tests the map.
#pragma once

#include "base/config.h"

namespace tessera::tile {

// What the numbers of a row's chunks are exchanged by. The bits of the row's number are only moved,
// so that the swizzles of two rows without a common bit add up.
//
// For lanes that load 128 bits each, as dmma_lanes.h lays them out.
struct VectorSwizzle {
  static constexpr int of(int row, bool along_k) {
    return along_k ? row / 8 % 2 * 4 : row / 2 % 4 + row % 2 * 4;
  }
};
// For one chunk of eight rows, which ldmatrix loads, and for two chunks of four rows.
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
  static constexpr int kRows = kAlongK ? kOuter : kK;   // of a panel
  static constexpr int kPanelBytes = kRows * kRowBytes;
  static constexpr int kBytes = kAlong / kRow * kPanelBytes;
  static_assert(kAlong % kRow == 0 && kRows % 8 == 0);

  alignas(kRowBytes) unsigned char bytes[kBytes];

  static constexpr int swizzle(int row) { return Swizzle::of(row, kAlongK); }

  // Where element (outer, k) is, in bytes.
  static constexpr int offset(int outer, int k) {
    const int along = kAlongK ? k : outer, row = kAlongK ? outer : k;
    return along / kRow * kPanelBytes + row * kRowBytes +
           (along % kRow / kChunk ^ swizzle(row)) * kChunkBytes +
           along % kChunk * static_cast<int>(sizeof(T));
  }
  // The same element, `rows` rows further, where the row that was and `rows` % 16 have no common
  // bit.
  static constexpr int rows_further(int offset, int rows) {
    return (offset ^ swizzle(rows) * kChunkBytes) + rows * kRowBytes;
  }
};

}  // namespace tessera::tile
