// Stores sums of tensor cores directly from registers to D, two neighbours of a row at a time if
// the alignment of D allows it.
#pragma once

#include "kernels/epilogue/linear_combination.h"
#include "kernels/epilogue/panel_op.h"

namespace tessera::epilogue {

template <ElementType out>
__device__ void store_one(void* d, long long at, SumOf<out> value) {
  using Storage = types::Storage<out>;
  static_cast<typename Storage::Memory*>(d)[at] = Storage::converted(value);
}

template <ElementType out>
__device__ void store_pair(void* d, long long at, tile::PairOf<SumOf<out>> value) {
  if constexpr (types::bytes_of(out) == 4) {
    using Sum = SumOf<out>;
    *reinterpret_cast<tile::TwoOf<Sum>*>(static_cast<Sum*>(d) + at) = {value.low, value.high};
  } else {
    *reinterpret_cast<std::uint32_t*>(static_cast<std::uint16_t*>(d) + at) = packed<out>(value);
  }
}

// Stores a warpgroup's sums of n columns. (row, column) is the warp's first output.
template <ElementType out, bool with_c, int n, class Sums>
__device__ void store_directly(const Sums& sums, const GemmParams& p, int row, int column) {
  const int lane = threadIdx.x % 32;
  const bool pairs = p.d_row % 2 == 0 &&
                     reinterpret_cast<unsigned long long>(p.d) % (2 * types::bytes_of(out)) == 0;
#pragma unroll
  for (int i = 0; i < Sums::kTilesM * 2; ++i) {
    const int tile_m = i / 2, half = i % 2;
    const long long r = row + tile_m * tile::kWgmmaM + 8 * half + tile::pair_row(lane);
#pragma unroll
    for (int c = 0; c < n; c += 8) {
      const long long col = column + c + tile::pair_column(lane), at = r * p.d_row + col;
      const auto value = combine<out, with_c>(p, sums.pair(tile_m, half, c / 8), r, col);
      if (r >= p.m || col >= p.n) continue;
      if (pairs && col + 1 < p.n) {
        store_pair<out>(p.d, at, value);
      } else {
        store_one<out>(p.d, at, value.low);
        if (col + 1 < p.n) store_one<out>(p.d, at + 1, value.high);
      }
    }
  }
}

// Stores sums in the layout of mma.sync. (row, column) is the origin of the warp's tile in D.
template <ElementType out, bool with_c, class Sums>
__device__ void store_fragments(const Sums& sums, const GemmParams& p, long long row,
                                long long column) {
  const bool pairs = p.d_row % 2 == 0 &&
                     reinterpret_cast<unsigned long long>(p.d) % (2 * types::bytes_of(out)) == 0;
  sums.for_each_pair(threadIdx.x % 32, [&](int i, int j, tile::Pair sum) {
    const long long r = row + i, c = column + j, at = r * p.d_row + c;
    if (r >= p.m || c >= p.n) return;
    const tile::Pair value = combine<out, with_c>(p, sum, r, c);
    if (pairs && c + 1 < p.n) return store_pair<out>(p.d, at, value);
    store_one<out>(p.d, at, value.low);
    if (c + 1 < p.n) store_one<out>(p.d, at + 1, value.high);
  });
}

// Writes D = beta * C, for k = 0 or alpha = 0. All threads of the grid call it.
template <ElementType out, class Op = ScaledSums>
__device__ void store_without_sums(const GemmParams& p, const Op& op = {}) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < p.m * p.n;
       i += step) {
    const long long row = i / p.n, column = i % p.n;
    using Sum = SumOf<out>;
    const Sum value =
        p.beta == 0 ? 0 : scaled(static_cast<Sum>(p.beta), load<out>(p.c, row * p.c_row + column));
    store_one<out>(p.d, row * p.d_row + column, op.value(value, row, column));
  }
}

}  // namespace tessera::epilogue
