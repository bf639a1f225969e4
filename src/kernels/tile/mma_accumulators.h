// The sums of one warp on tensor cores: m x n outputs in mma.sync's register layout, and the
// instruction that adds to them.
#pragma once

#include "kernels/tile/accumulators.h"
#include "kernels/tile/mma_fragments.h"

namespace tessera::tile {

template <ptx::MatrixType type, int m, int n>
struct MmaAccumulators {
  static constexpr int kM = m / kMmaOuter, kN = n / kMmaOuter;

  float sum[kM][kN][2][4];  // 16 rows x 16 columns x first or last eight columns x register

  __device__ void clear() {
#pragma unroll
    for (int i = 0; i < kM * kN * 8; ++i) sum[i / kN / 8][i / 8 % kN][i / 4 % 2][i % 4] = 0;
  }

  template <class FragmentsA, class FragmentsB>
  __device__ void multiply_add(const FragmentsA& a, const FragmentsB& b) {
#pragma unroll
    for (int i = 0; i < kM; ++i) {
#pragma unroll
      for (int j = 0; j < 2 * kN; ++j) {
        const std::uint32_t of_b[2] = {b.x[j / 2][j % 2 * 2], b.x[j / 2][j % 2 * 2 + 1]};
        if constexpr (type == ptx::MatrixType::kTF32) {
          ptx::mma_m16n8k8_tf32(sum[i][j / 2][j % 2], a.x[i], of_b);
        } else {
          ptx::mma_m16n8k16<type>(sum[i][j / 2][j % 2], a.x[i], of_b);
        }
      }
    }
  }

  // Calls `visit` with row, column and the two sums of every pair of neighbours in a row of D. Rows
  // and columns count from the warp's tile.
  template <class Visit>
  __device__ void for_each_pair(int lane, Visit visit) const {
#pragma unroll
    for (int i = 0; i < 2 * kM; ++i) {
#pragma unroll
      for (int j = 0; j < 2 * kN; ++j) {
        const float(&of)[4] = sum[i / 2][j / 2][j % 2];
        visit(8 * i + pair_row(lane), 8 * j + pair_column(lane),
              Pair{of[i % 2 * 2], of[i % 2 * 2 + 1]});
      }
    }
  }
};

}  // namespace tessera::tile
