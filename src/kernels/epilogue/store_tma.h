// Accumulators to D through shared memory and the copy engine, which writes whole lines and clips
// the tile at the edge of the matrix. Each warp stores its own sixteen rows, panel by panel, and
// waits for no other warp: a panel is on its way while the next one is filled, and the last ones
// while the next tile is multiplied.
//
// TRIED (H100, BF16, 2048, 128x256): panels of their own for all of a CTA's last tile, in the ring,
// so that none is waited for: no gain. One fence and all copies once several panels are filled:
// slower, since the copies then wait for one another.
#pragma once

#include <cstdint>

#include "kernels/epilogue/linear_combination.h"
#include "kernels/epilogue/store_rows.h"
#include "kernels/ptx/bulk_copy.h"
#include "kernels/ptx/elect.h"
#include "kernels/ptx/fence.h"
#include "kernels/ptx/stmatrix.h"
#include "kernels/ptx/tensor_copy.h"
#include "kernels/tile/accumulators.h"

namespace tessera::epilogue {

// A warp's panels, (16, columns) each, swizzled as the tensor map of D says.
template <Out out, int n, int buffers>
struct StorePanels {
  static constexpr int kColumns = store_columns(n, out);
  static constexpr int kRowBytes = kColumns * bytes_of(out);
  static_assert(kRowBytes >= 32, "a panel's row is at least one sector");
  using Element = ElementOf<out>;

  alignas(1024) unsigned char panel[buffers][kWarpRows * kRowBytes];

  // HW: the pattern exchanges pieces of 16 bytes by the number of the 128-byte line, modulo 8, 4
  // or 2.
  __device__ static int place(int row, int column) {
    const int offset = row * kRowBytes + column * bytes_of(out);
    return offset ^ (offset >> 3 & (kRowBytes - 16));
  }
  // The same of a piece of 16 bytes.
  static constexpr int kPieces = kRowBytes / 16;
  __device__ static int piece(int row, int number) {
    return place(row, number * 16 / bytes_of(out));
  }
};

// Where tensor copies store.
struct MatrixD {
  const TensorMap& map;
  int copied;     // columns from the left that they store
  int product;    // which matrix of a batch
  bool is_batch;  // the map has three dimensions
};

// Columns of D from `column` on that are no whole 16 bytes: a few, from their place in the panel.
template <class Panels>
__device__ void store_rest(const unsigned char* panel, int place, int count, const GemmParams& p,
                           int row, int column) {
  using Element = typename Panels::Element;
  for (int i = threadIdx.x % 32; i < kWarpRows * count; i += 32) {
    const int r = i / count, c = i % count;
    if (row + r >= p.m) return;
    static_cast<Element*>(p.d)[(row + r) * p.d_row + column + c] =
        *reinterpret_cast<const Element*>(panel + Panels::place(r, place + c));
  }
}

// A panel to a D that the copy engine does not take.
template <class Panels>
__device__ void store_panel_by_rows(const unsigned char* panel, const GemmParams& p, int row,
                                    int column) {
  const int width = static_cast<int>(min(p.n - column, static_cast<long long>(Panels::kColumns)));
  const int there = static_cast<int>(min(p.m - row, static_cast<long long>(kWarpRows)));
  if (width <= 0) return;
  using Element = typename Panels::Element;
  store_rows<Panels, Element, kWarpRows, 1>(
      panel, static_cast<Element*>(p.d) + row * p.d_row + column, p.d_row, there, width);
}

// A panel that the warp has filled, on its way. `any_d`: also to a D that the copy engine does not
// take.
template <bool any_d, class Panels>
__device__ void store_panel(unsigned char* panel, const GemmParams& p, const MatrixD& d, int row,
                            int column, bool elected) {
  ptx::fence_proxy_async_shared();
  __syncwarp();
  if (elected) {
    if (column < d.copied && d.is_batch) {
      ptx::tensor_store(d.map, {column, row, d.product}, panel);
    } else if (column < d.copied) {
      ptx::tensor_store(d.map, {column, row}, panel);
    }
    ptx::bulk_commit_group();  // an empty one, too: waits count panels
  }
  const int rest = static_cast<int>(p.n) - d.copied, place = d.copied - column;
  if (any_d && d.copied == 0) {
    store_panel_by_rows<Panels>(panel, p, row, column);
    __syncwarp();
  } else if (rest > 0 && place >= 0 && place < Panels::kColumns) {
    store_rest<Panels>(panel, place, rest, p, row, d.copied);
    __syncwarp();
  }
}

// Where there is a C, the sums hold it already (epilogue/add_c.h).
template <Out out, int n, int buffers, class Sums, class Op>
__device__ void store_by_tma(StorePanels<out, n, buffers>& panels, const Sums& sums,
                             const GemmParams& p, const MatrixD& d, int row, int column, Op op) {
  using Panels = StorePanels<out, n, buffers>;
  constexpr int kColumns = Panels::kColumns, kPanels = n / kColumns;
  // WHY: beside more sums there are no registers for it, and rows of less are no longer than those
  // of a panel.
  constexpr bool kByRows = Sums::kTilesM * n / 2 <= 128 && n * bytes_of(out) >= 256;
  if (kByRows && d.copied == 0) {
    return store_by_rows<out, n, sizeof panels.panel>(panels.panel[0], sums, p, row, column, op);
  }
  const int lane = threadIdx.x % 32;
  const bool elected = ptx::elect_one();  // HW: always the same lane
#pragma unroll
  for (int i = 0; i < Sums::kTilesM * kPanels; ++i) {
    const int tile_m = i / kPanels, first = i % kPanels * kColumns;
    unsigned char* panel = panels.panel[i % buffers];
    const int panel_row = row + tile_m * tile::kWgmmaM;
    // The panel is free again: at the start of a tile all are waited for, whichever came last.
    if (elected && i == 0) ptx::bulk_wait_group_read<0>();
    if (elected && i > 0) ptx::bulk_wait_group_read<buffers - 1>();
    __syncwarp();
    const auto value = [&](int half, int c) {
      return combine<out, false>(p, sums.pair(tile_m, half, (first + c) / 8),
                                 panel_row + 8 * half + tile::pair_row(lane),
                                 column + first + c + tile::pair_column(lane), op);
    };
#pragma unroll
    for (int c = 0; c < kColumns; c += 16) {
      if constexpr (out == Out::kF32) {
#pragma unroll
        for (int part = 0; part < 4; ++part) {
          const tile::Pair pair = value(part % 2, c + part / 2 * 8);
          *reinterpret_cast<float2*>(panel +
                                     Panels::place(part % 2 * 8 + tile::pair_row(lane),
                                                   c + part / 2 * 8 + tile::pair_column(lane))) =
              float2{pair.low, pair.high};
        }
      } else {
        const std::uint32_t matrices[4] = {packed<out>(value(0, c)), packed<out>(value(1, c)),
                                           packed<out>(value(0, c + 8)),
                                           packed<out>(value(1, c + 8))};
        ptx::stmatrix(panel + Panels::place(lane % 16, c + lane / 16 * 8), matrices);
      }
    }
    store_panel<!kByRows, Panels>(panel, p, d, panel_row, column + first, elected);
  }
}

}  // namespace tessera::epilogue
