// The number of columns of D that a tensor copy stores. For host and device.
#pragma once

#include "kernels/types/stored.h"

namespace tessera::epilogue {

inline constexpr int kWarpRows = 16;  // rows of a tile that one warp stores

// Columns of D that tensor copies can store: whole pieces of 16 bytes. HW: a copy always writes all
// of the last 16 bytes of a row, even outside of the tensor (measured on an H200).
constexpr int whole_columns(long long n, ElementType out) {
  const int piece = 16 / types::bytes_of(out);
  return static_cast<int>(n / piece) * piece;
}

// Columns of a panel: 128 bytes, or the largest half, quarter ... of it that divides the tile.
constexpr int store_columns(int n, ElementType out) {
  int columns = 128 / types::bytes_of(out);
  while (n % columns != 0) columns /= 2;
  return columns;
}

}  // namespace tessera::epilogue
