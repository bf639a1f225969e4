// How many columns of D a tensor copy stores. For host and device.
#pragma once

#include "kernels/types/stored.h"

namespace tessera::epilogue {

inline constexpr int kWarpRows = 16;  // of a tile: what one warp stores

// Columns of D that tensor copies store. HW: a copy writes the whole of the last 16 bytes of a row
// that it touches, also what lies outside of the tensor (measured on an H200).
constexpr int whole_columns(long long n, ElementType out) {
  const int piece = 16 / types::bytes_of(out);
  return static_cast<int>(n / piece) * piece;
}

// Columns of a panel: rows of 128 bytes where the tile is whole rows of them.
constexpr int store_columns(int n, ElementType out) {
  int columns = 128 / types::bytes_of(out);
  while (n % columns != 0) columns /= 2;
  return columns;
}

}  // namespace tessera::epilogue
