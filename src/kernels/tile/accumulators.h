// The sums of one warpgroup: m x n outputs, in wgmma's register layout.
#pragma once

#include <cuda/std/type_traits>

#include "kernels/ptx/wgmma.h"
#include "kernels/tile/extents.h"

namespace tessera::tile {

template <class Number>
struct PairOf {
  Number low, high;  // neighbours of a row
};
using Pair = PairOf<float>;
// The type with which one access of memory moves a pair of sums.
template <class Number>
using TwoOf = cuda::std::conditional_t<cuda::std::is_same_v<Number, float>, float2, int2>;

// The sums in registers, in FP32 or in 32-bit integers.
template <int m, int n, class Number_ = float>
struct Accumulators {
  using Number = Number_;
  using Pair = PairOf<Number>;
  static constexpr int kN = wgmma_n(n);
  static constexpr int kTilesM = m / kWgmmaM, kTilesN = n / kN;
  static constexpr int kCount = kTilesM * n / 2;  // per thread
  static_assert(m % kWgmmaM == 0 && kN >= 8);

  Number sum[kTilesM][kTilesN][kN / 2];

  // The lane's pair in an 8 x 8 part of the warp's 16 rows, as stmatrix and direct stores take it:
  // upper or lower half, columns from 8 * column8 on. Register i of a thread belongs to column
  // 8 * (i / 4) + 2 * (lane % 4) + i % 2 and to row lane / 4 + 8 * (i / 2 % 2).
  __device__ Pair pair(int tile_m, int half, int column8) const {
    const Number(&of_tile)[kN / 2] = sum[tile_m][column8 / (kN / 8)];
    const int i = column8 % (kN / 8) * 4 + half * 2;
    return {of_tile[i], of_tile[i + 1]};
  }

  __device__ void set_pair(int tile_m, int half, int column8, Pair pair) {
    Number(&of_tile)[kN / 2] = sum[tile_m][column8 / (kN / 8)];
    const int i = column8 % (kN / 8) * 4 + half * 2;
    of_tile[i] = pair.low, of_tile[i + 1] = pair.high;
  }

  // Keeps the compiler from moving accesses to the sums (ptx::pin).
  __device__ void pin() {
#pragma unroll
    for (int i = 0; i < kTilesM * kTilesN; ++i) ptx::pin(sum[i / kTilesN][i % kTilesN]);
  }
};

// The row, and the first column, of a lane's pair in an 8 x 8 matrix.
__device__ constexpr int pair_row(int lane) { return lane / 4; }
__device__ constexpr int pair_column(int lane) { return lane % 4 * 2; }

}  // namespace tessera::tile
