// Element types of C and D, and how wide a panel of D is on its way through shared memory. Pure
// C++.
#pragma once

namespace tessera::epilogue {

enum class Out { kF32, kBF16, kF16 };

constexpr int bytes_of(Out out) { return out == Out::kF32 ? 4 : 2; }

inline constexpr int kWarpRows = 16;  // of a tile: what one warp stores

// Columns of D that tensor copies store. HW: a copy writes the whole of the last 16 bytes of a row
// that it touches, also what lies outside of the tensor (measured on an H200).
constexpr int whole_columns(long long n, Out out) {
  const int piece = 16 / bytes_of(out);
  return static_cast<int>(n / piece) * piece;
}

// Columns of a panel: rows of 128 bytes where the tile is whole rows of them.
constexpr int store_columns(int n, Out out) {
  int columns = 128 / bytes_of(out);
  while (n % columns != 0) columns /= 2;
  return columns;
}

}  // namespace tessera::epilogue
