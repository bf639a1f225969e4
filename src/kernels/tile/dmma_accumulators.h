// The sums of one warp on the FP64 tensor cores: m x n outputs in registers, and the instruction
// that adds to them.
#pragma once

#include "kernels/ptx/mma.h"
#include "kernels/tile/dmma_fragments.h"

namespace tessera::tile {

namespace detail {

// Adds a * b to `d`, for 16 x 8 outputs. In a[half][step] and b[step], a step is four k.
template <Dmma instruction, int steps>
__device__ void multiply_add(double (&d)[4], const double (&a)[2][steps],
                             const double (&b)[steps]) {
  if constexpr (instruction == Dmma::kM16N8K16) {
    static_assert(steps == 4);
    ptx::mma_m16n8k16(d, {a[0][0], a[1][0], a[0][1], a[1][1], a[0][2], a[1][2], a[0][3], a[1][3]},
                      b);
  } else if constexpr (instruction == Dmma::kM16N8K8) {
    static_assert(steps == 2);
    ptx::mma_m16n8k8(d, {a[0][0], a[1][0], a[0][1], a[1][1]}, b);
  } else {
#pragma unroll
    for (int step = 0; step < steps; ++step) {
      if constexpr (instruction == Dmma::kM16N8K4) {
        ptx::mma_m16n8k4(d, {a[0][step], a[1][step]}, b[step]);
      } else {
        double(&halves)[2][2] = reinterpret_cast<double(&)[2][2]>(d);
        ptx::mma_m8n8k4(halves[0], a[0][step], b[step]);
        ptx::mma_m8n8k4(halves[1], a[1][step], b[step]);
      }
    }
  }
}

}  // namespace detail

// If `transposed`, the rows of the instructions are columns of D.
template <int m, int n, bool transposed = false>
struct DmmaAccumulators {
  static constexpr int kM = m / kDmmaOuter, kN = n / kDmmaOuter;
  static constexpr int kPairs = 4 * kM * kN;  // per lane

  double sum[kM][kN][2][4];  // 16 rows x 16 columns x even or odd columns x register

  __device__ void clear() {
#pragma unroll
    for (int i = 0; i < kM * kN * 8; ++i) sum[i / kN / 8][i / 8 % kN][i / 4 % 2][i % 4] = 0;
  }

  // Multiplies all rows by group `j` of sixteen columns.
  template <Dmma instruction, class FragmentsA, class FragmentsB>
  __device__ void multiply_add(int j, const FragmentsA& a, const FragmentsB& b) {
#pragma unroll
    for (int i = 0; i < kM; ++i) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        detail::multiply_add<instruction>(sum[i][j][half], a.x[i], b.x[0][half]);
      }
    }
  }

  // Calls `visit` with row, column and the two sums of every pair of neighbours in a row of D. Rows
  // and columns count from the warp's tile. A lane's sums are neighbours in both directions.
  template <class Visit>
  __device__ void for_each_pair(int lane, Visit visit) const {
#pragma unroll
    for (int i = 0; i < 2 * kM; ++i) {
#pragma unroll
      for (int j = 0; j < 2 * kN; ++j) {
        const double(&of)[2][4] = sum[i / 2][j / 2];
        const int row = i / 2 * kDmmaOuter, column = j / 2 * kDmmaOuter, pair = j % 2;
        if constexpr (transposed) {
          const double neighbours[2] = {of[i % 2][pair], of[i % 2][2 + pair]};
          visit(column + dmma_column(lane, pair) + i % 2, row + dmma_outer(lane, 0), neighbours);
        } else {
          const int at = 2 * (i % 2) + pair;
          const double neighbours[2] = {of[0][at], of[1][at]};
          visit(row + dmma_outer(lane, i % 2), column + dmma_column(lane, pair), neighbours);
        }
      }
    }
  }
};

}  // namespace tessera::tile
