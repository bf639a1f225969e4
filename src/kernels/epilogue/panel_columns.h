// Functions for host and device that tell which columns of D are stored by tensor copies.
#pragma once

#include "kernels/types/stored.h"

namespace tessera::epilogue {

inline constexpr int kWarpRows = 16;  // rows of a tile that one warp stores

// Returns the number of columns that tensor copies store: whole pieces of 16 bytes. HW: a copy
// always writes the last 16 bytes of a row whole, even outside of the tensor (measured on an H200).
constexpr int whole_columns(long long n, ElementType out) {
  const int piece = 16 / types::bytes_of(out);
  return static_cast<int>(n / piece) * piece;
}

// Returns the columns of a panel: as many as fit 128 bytes, halved until they divide the tile.
constexpr int store_columns(int n, ElementType out) {
  int columns = 128 / types::bytes_of(out);
  while (n % columns != 0) columns /= 2;
  return columns;
}

}  // namespace tessera::epilogue
