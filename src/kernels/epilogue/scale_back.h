// Undoes a scaling of sums: the rows of A and the columns of B were multiplied by powers of two
// when they were split into terms (passes/terms.h).
#pragma once

#include "kernels/tile/accumulators.h"
#include "launch/params.h"

namespace tessera::epilogue {

// Returns x * 2^exponent, for an exponent between -252 and 252. WHY two factors, each with half of
// the exponent: a float cannot represent every such power.
__device__ inline float times_power_of_two(float x, int exponent) {
  const int half = exponent / 2;
  const auto power = [](int e) { return __int_as_float((e + 127) << 23); };
  return x * power(half) * power(exponent - half);
}

// Undoes the scaling of a warp's sums, whose first output is (row, column). `exponents_a` and
// `exponents_b` hold the exponents of the powers of two for each row and each column.
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
