// A shared tile of an operand whose contiguous index is known only at run time, and the map from
// threads to pieces that they copy. Pure constexpr except for the bytes: the host tests the maps.
#pragma once

#include "kernels/tile/swizzled_tile.h"

namespace tessera::tile {

constexpr int log2_of(int power) {
  int log2 = 0;
  while (1 << log2 < power) ++log2;
  return log2;
}

// `outer` is m of A, n of B. The bytes have the layout of AlongK if the operand is contiguous along
// k, else the layout of AlongOuter.
template <class T, int outer_, int k_>
struct EitherTile {
  using Element = T;
  using AlongK = SwizzledTile<T, outer_, k_, Major::kK, MatrixSwizzle>;
  using AlongOuter = SwizzledTile<T, outer_, k_, Major::kM, MatrixSwizzle>;
  static constexpr int kOuter = outer_, kK = k_, kChunk = AlongK::kChunk;
  static_assert(AlongK::kBytes == AlongOuter::kBytes);

  alignas(AlongK::kRowBytes) unsigned char bytes[AlongK::kBytes];

  static constexpr int offset(bool along_k, int outer, int k) {
    return along_k ? AlongK::offset(outer, k) : AlongOuter::offset(outer, k);
  }
};

// Maps threads to pieces of 2^log2_width elements: neighbouring threads copy neighbouring pieces of
// a line of global memory, then the next lines.
template <class Tile, int threads>
struct EitherCopyMap {
  bool along_k;
  int log2_width;

  constexpr int width() const { return 1 << log2_width; }
  constexpr int rows() const { return along_k ? Tile::kOuter : Tile::kK; }
  constexpr int log2_across() const {  // log2 of the pieces per line
    return (along_k ? log2_of(Tile::kK) : log2_of(Tile::kOuter)) - log2_width;
  }
  constexpr int lines() const { return threads >> log2_across(); }  // copied at a time
  // The number of a thread's pieces, which are lines() lines apart.
  constexpr int count() const { return Tile::kOuter * Tile::kK / threads >> log2_width; }

  // The position of a thread's first piece.
  constexpr int across(int thread) const {
    return (thread & ((1 << log2_across()) - 1)) << log2_width;
  }
  constexpr int line(int thread) const { return thread >> log2_across(); }
  constexpr int outer(int thread) const { return along_k ? line(thread) : across(thread); }
  constexpr int k(int thread) const { return along_k ? across(thread) : line(thread); }

  // The offset of a thread's piece i, given the offset of its first piece. lines() is a power of
  // two, so i * lines() and the first piece's line number have no bit in common.
  constexpr int place(int first, int i) const {
    return Tile::AlongK::rows_further(first, i * lines());
  }
};

}  // namespace tessera::tile
