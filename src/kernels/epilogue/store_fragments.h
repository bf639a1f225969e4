// The sums of a warp, as mma.sync leaves them, straight to D: two neighbours of a row at a time
// where D allows it.
#pragma once

#include "kernels/epilogue/store_pairs.h"

namespace tessera::epilogue {

// (row, column): of the warp's tile in D.
template <Out out, bool with_c, class Sums, class Op = Identity>
__device__ void store_fragments(const Sums& sums, const GemmParams& p, long long row,
                                long long column, Op op = {}) {
  const bool pairs =
      p.d_row % 2 == 0 && reinterpret_cast<unsigned long long>(p.d) % (2 * bytes_of(out)) == 0;
  sums.for_each_pair(threadIdx.x % 32, [&](int i, int j, tile::Pair sum) {
    const long long r = row + i, c = column + j, at = r * p.d_row + c;
    if (r >= p.m || c >= p.n) return;
    const tile::Pair value = combine<out, with_c>(p, sum, r, c, op);
    if (pairs && c + 1 < p.n) return store_pair<out>(p.d, at, value);
    store_one<out>(p.d, at, value.low);
    if (c + 1 < p.n) store_one<out>(p.d, at + 1, value.high);
  });
}

}  // namespace tessera::epilogue
