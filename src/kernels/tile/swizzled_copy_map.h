// The map from threads to the pieces of a swizzled tile that they copy: neighbouring threads copy
// neighbouring pieces of a line of global memory, then the next lines. Pure constexpr: the host
// tests that each element is copied once, and that a warp's writes are in 32 banks.
#pragma once

#include "kernels/tile/swizzled_tile.h"

namespace tessera::tile {

// Maps threads to pieces of `width` elements.
template <class Tile, int threads, int width>
struct SwizzledCopyMap {
  static constexpr int kWidth = width;
  static constexpr int kAcross = Tile::kAlong / width;  // pieces per line
  static constexpr int kLines = threads / kAcross;      // lines at a time
  static constexpr int kCount = Tile::kRows / kLines;   // pieces per thread, kLines lines apart
  static_assert(kAcross * kLines == threads && kCount * kLines == Tile::kRows);

  // The position of a thread's first piece.
  static constexpr int across(int thread) { return thread % kAcross * width; }
  static constexpr int line(int thread) { return thread / kAcross; }
  static constexpr int outer(int thread) { return Tile::kAlongK ? line(thread) : across(thread); }
  static constexpr int k(int thread) { return Tile::kAlongK ? across(thread) : line(thread); }

  // The offset of a thread's piece i, given the offset of its first piece. kLines is a power of
  // two, so i * kLines and the first piece's line number have no bit in common.
  static_assert((kLines & (kLines - 1)) == 0);
  static constexpr int place(int first, int i) { return Tile::rows_further(first, i * kLines); }
};

}  // namespace tessera::tile
