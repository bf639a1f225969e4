// Sums of operands that were multiplied by powers of two, row by row of A and column by column of B
// (passes/terms.h), as if they had not been.
#pragma once

#include "kernels/tile/accumulators.h"
#include "launch/params.h"

namespace tessera::epilogue {

// x times a power of two whose exponent is between -252 and 252. WHY in two steps: a float holds
// half of such a power.
__device__ inline float times_power_of_two(float x, int exponent) {
  const int half = exponent / 2;
  const auto power = [](int e) { return __int_as_float((e + 127) << 23); };
  return x * power(half) * power(exponent - half);
}

// (row, column): the warp's first output. `exponents_a` and `exponents_b`: of the powers of two
// that undo what was done to a row and a column.
template <class Sums>
__device__ void scale_back(Sums& sums, const GemmParams& p, const int* exponents_a,
                           const int* exponents_b, int row, int column) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int first = column + tile::pair_column(lane);
  int of_row[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int r = row + 8 * half + tile::pair_row(lane);
    of_row[half] = r < p.m ? exponents_a[r] : 0;
  }
#pragma unroll
  for (int group = 0; group < Sums::kN / 8; ++group) {
    const int at = first + 8 * group;
    const int low = at < p.n ? exponents_b[at] : 0;
    const int high = at + 1 < p.n ? exponents_b[at + 1] : 0;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const tile::Pair pair = sums.pair(0, half, group);
      sums.set_pair(0, half, group,
                    {times_power_of_two(pair.low, of_row[half] + low),
                     times_power_of_two(pair.high, of_row[half] + high)});
    }
  }
}

}  // namespace tessera::epilogue
