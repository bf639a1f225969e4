// The sums of one warpgroup: m x n outputs, in wgmma's register layout.
#pragma once

#include "kernels/ptx/wgmma.h"
#include "kernels/tile/extents.h"

namespace tessera::tile {

struct Pair {
  float low, high;  // neighbours in a row
};

template <int m, int n>
struct Accumulators {
  static constexpr int kN = wgmma_n(n);
  static constexpr int kTilesM = m / kWgmmaM, kTilesN = n / kN;
  static constexpr int kCount = kTilesM * n / 2;  // per thread
  static_assert(m % kWgmmaM == 0 && kN >= 8);

  float sum[kTilesM][kTilesN][kN / 2];

  // The lane's pair in an 8 x 8 part of the warp's 16 rows, as stmatrix and direct stores take it:
  // upper or lower half, columns 8 * column8 on. Register i of a thread belongs to column
  // 8 * (i / 4) + 2 * (lane % 4) + i % 2 and to row lane / 4 + 8 * (i / 2 % 2).
  __device__ Pair pair(int tile_m, int half, int column8) const {
    const float(&of_tile)[kN / 2] = sum[tile_m][column8 / (kN / 8)];
    const int i = column8 % (kN / 8) * 4 + half * 2;
    return {of_tile[i], of_tile[i + 1]};
  }

  __device__ void set_pair(int tile_m, int half, int column8, Pair pair) {
    float(&of_tile)[kN / 2] = sum[tile_m][column8 / (kN / 8)];
    const int i = column8 % (kN / 8) * 4 + half * 2;
    of_tile[i] = pair.low, of_tile[i + 1] = pair.high;
  }

  // See ptx::pin.
  __device__ void pin() {
#pragma unroll
    for (int i = 0; i < kTilesM * kTilesN; ++i) ptx::pin(sum[i / kTilesN][i % kTilesN]);
  }
};

// The row, and the first column, of a lane's pair in an 8 x 8 matrix.
__device__ constexpr int pair_row(int lane) { return lane / 4; }
__device__ constexpr int pair_column(int lane) { return lane % 4 * 2; }

}  // namespace tessera::tile
