// Accumulators whose A came from registers (tile/wgmma_fragments.h) to D by tensor copies. A warp
// has 32 rows, four neighbouring ones a thread. D lies along the sums' columns or, where the
// operands were exchanged, along their rows: rows of D are then columns of sums, and a panel's row
// is the warp's 32.
#pragma once

#include "kernels/epilogue/store_tma.h"
#include "kernels/tile/coord.h"
#include "kernels/tile/wgmma_fragments.h"

namespace tessera::epilogue {

// Sixteen of the warp's rows by 32 columns, from `column` of the sums on: rows of chunks 4 * half
// and up.
template <class Panels, class Sums, class Op>
__device__ void fill_panel(unsigned char* panel, const Sums& sums, const GemmParams& p, int half,
                           int column, tile::Coord<> corner, Op op) {
  const int lane = threadIdx.x % 32, chunk = tile::fragment_chunk(lane);
  if (chunk / 4 != half) return;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int row = chunk % 4 * 4 + i;
#pragma unroll
    for (int c = 0; c < Panels::kColumns; c += 8) {
      const int at = c + tile::pair_column(lane);
      const tile::Pair pair = combine<Out::kF32, false>(
          p, sums.pair(i / 2, i % 2, (column + c) / 8), corner.m + row, corner.n + at, op);
      *reinterpret_cast<float2*>(panel + Panels::place(row, at)) = {pair.low, pair.high};
    }
  }
}

// Sixteen columns of the sums, from `column` on, as rows; the warp's 32 rows as columns.
template <class Panels, class Sums, class Op>
__device__ void fill_transposed(unsigned char* panel, const Sums& sums, const GemmParams& p,
                                int column, tile::Coord<> corner, Op op) {
  const int lane = threadIdx.x % 32, at = tile::fragment_chunk(lane) * 4;
#pragma unroll
  for (int c = 0; c < kWarpRows; c += 8) {
    const tile::Pair of[4] = {sums.pair(0, 0, (column + c) / 8), sums.pair(0, 1, (column + c) / 8),
                              sums.pair(1, 0, (column + c) / 8), sums.pair(1, 1, (column + c) / 8)};
#pragma unroll
    for (int low = 1; low >= 0; --low) {
      const int row = c + tile::pair_column(lane) + 1 - low;
      tile::Pair pair[2];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const tile::Pair sum = low ? tile::Pair{of[2 * i].low, of[2 * i + 1].low}
                                   : tile::Pair{of[2 * i].high, of[2 * i + 1].high};
        pair[i] = combine<Out::kF32, false>(p, sum, corner.m + row, corner.n + at + 2 * i, op);
      }
      *reinterpret_cast<float4*>(panel + Panels::place(row, at)) = {pair[0].low, pair[0].high,
                                                                    pair[1].low, pair[1].high};
    }
  }
}

// `corner`: of the warp's first output in D. Where there is a C, the sums hold it already
// (epilogue/add_c.h).
template <bool transposed, int n, int buffers, class Sums, class Op>
__device__ void store_fragments_by_tma(StorePanels<Out::kF32, n, buffers>& panels, const Sums& sums,
                                       const GemmParams& p, const MatrixD& d, tile::Coord<> corner,
                                       Op op) {
  using Panels = StorePanels<Out::kF32, n, buffers>;
  static_assert(Panels::kColumns == 32);
  const bool elected = ptx::elect_one();  // HW: always the same lane
#pragma unroll
  for (int i = 0; i < n / 16; ++i) {
    unsigned char* panel = panels.panel[i % buffers];
    if (elected && i == 0) ptx::bulk_wait_group_read<0>();
    if (elected && i > 0) ptx::bulk_wait_group_read<buffers - 1>();
    __syncwarp();
    const tile::Coord<> at = transposed
                                 ? tile::Coord<>{corner.m + 16 * i, corner.n}
                                 : tile::Coord<>{corner.m + i % 2 * 16, corner.n + i / 2 * 32};
    if constexpr (transposed) {
      fill_transposed<Panels>(panel, sums, p, 16 * i, at, op);
    } else {
      fill_panel<Panels>(panel, sums, p, i % 2, i / 2 * 32, at, op);
    }
    store_panel<true, Panels>(panel, p, d, at.m, at.n, elected);
  }
}

}  // namespace tessera::epilogue
