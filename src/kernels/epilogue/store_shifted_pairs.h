// Stores sums of mma.sync directly from registers to a D with rows that begin at odd multiples of
// the element size. In such a row, a lane's two neighbouring outputs are not an aligned pair, but
// the second output of a fragment and the first of the next fragment are.
#pragma once

#include "kernels/epilogue/store_pairs.h"
#include "kernels/tile/vector.h"

namespace tessera::epilogue {

// Whether some rows of D begin at odd multiples of the element size.
template <ElementType out>
__device__ bool has_shifted_pairs(const GemmParams& p) {
  return p.d_row % 2 != 0 ||
         reinterpret_cast<unsigned long long>(p.d) % (2 * types::bytes_of(out)) != 0;
}

// Stores a warp's sums of `n` columns. (row, column) is the origin of the warp's tile in D. In a
// shifted row, a lane gets the first element of its pair from the previous lane. C is not read.
//
// TRIED: the same store with C: kernels with 128x128 tiles then spill 16 bytes of registers.
template <ElementType out, int n, class Sums>
__device__ void store_shifted_pairs(const Sums& sums, const GemmParams& p, long long row,
                                    long long column) {
  const int lane = threadIdx.x % 32, before = lane / 4 * 4 + (lane + 3) % 4;
  const int columns = tile::inside(column, p.n, n);
  float of_last = 0;  // the last output of the previous eight columns
  sums.for_each_pair(lane, [&](int i, int j, tile::Pair sum) {
    const long long r = row + i, at = r * p.d_row + column;
    const tile::Pair value = combine<out, false>(p, sum, r, column + j);
    const float high_before = __shfl_sync(0xffffffff, value.high, before);
    const float low = lane % 4 == 0 ? of_last : high_before;
    of_last = high_before;
    if (r >= p.m) return;
    const auto first_of_row = reinterpret_cast<unsigned long long>(p.d) / types::bytes_of(out) + at;
    const int shift = static_cast<int>(first_of_row % 2), first = j - shift;
    const tile::Pair pair = shift == 1 ? tile::Pair{low, value.low} : value;
    const bool has_low = first >= 0 && first < columns, has_high = first + 1 < columns;
    if (has_low && has_high) {
      store_pair<out>(p.d, at + first, pair);
    } else if (has_low) {
      store_one<out>(p.d, at + first, pair.low);
    } else if (has_high) {
      store_one<out>(p.d, at + first + 1, pair.high);
    }
    const bool ends_row = j == n - 2 && shift == 1;  // the last output of the row has no partner
    if (ends_row && n == columns) store_one<out>(p.d, at + n - 1, value.high);
  });
}

}  // namespace tessera::epilogue
