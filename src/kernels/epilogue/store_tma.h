// Stores accumulators to D through shared memory and the copy engine, which writes whole lines and
// clips the tile at the edge of the matrix. Each warp stores its own sixteen rows, panel by panel,
// and waits for no other warp. A panel is copied while the next one is filled, the tile's last
// panels while the next tile is multiplied.
//
// TRIED (H100, BF16, 2048, 128x256): separate panels, in the ring's memory, for all of a CTA's last
// tile, so that no panel must be waited for: no gain. One fence and all copies after several panels
// have been filled: slower, because the copies then wait for one another.
#pragma once

#include <cstdint>

#include "kernels/epilogue/linear_combination.h"
#include "kernels/epilogue/panel_columns.h"
#include "kernels/epilogue/panel_op.h"
#include "kernels/epilogue/store_rows.h"
#include "kernels/ptx/bulk_copy.h"
#include "kernels/ptx/elect.h"
#include "kernels/ptx/fence.h"
#include "kernels/ptx/stmatrix.h"
#include "kernels/ptx/tensor_copy.h"
#include "kernels/tile/accumulators.h"
#include "kernels/tile/coord.h"
#include "kernels/tile/wgmma_fragments.h"

namespace tessera::epilogue {

// A warp's panels, (16, columns) each, with the swizzle of D's tensor map.
template <ElementType out, int n, int buffers>
struct StorePanels {
  static constexpr int kColumns = store_columns(n, out);
  static constexpr int kRowBytes = kColumns * types::bytes_of(out);
  static_assert(kRowBytes >= 32, "a panel's row is at least one sector");
  using Element = ElementOf<out>;

  alignas(1024) unsigned char panel[buffers][kWarpRows * kRowBytes];

  // HW: the swizzle XORs the number of a 16-byte piece with the number of its 128-byte line, modulo
  // 8, 4 or 2.
  __device__ static int place(int row, int column) {
    const int offset = row * kRowBytes + column * types::bytes_of(out);
    return offset ^ (offset >> 3 & (kRowBytes - 16));
  }
  // Returns the position of a piece of 16 bytes in the panel.
  static constexpr int kPieces = kRowBytes / 16;
  __device__ static int piece(int row, int number) {
    return place(row, number * 16 / types::bytes_of(out));
  }
};

// The destination of tensor copies.
struct MatrixD {
  const TensorMap& map;
  int copied;     // the first columns of D, which tensor copies store
  int product;    // index of the matrix in a batch
  bool is_batch;  // the map has three dimensions
};

// Stores the last `count` columns of D, less than 16 bytes, from column `place` of the panel on.
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

// Stores a panel to a D that the copy engine cannot write.
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

// Starts the store of a panel that the warp has filled. `any_d`: the copy engine may be unable to
// write D.
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
    ptx::bulk_commit_group();  // also an empty group: the waits count one group per panel
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

// Writes a panel's values to shared memory. value(half, group) returns a pair, as Panel::pair()
// does. `relu`: negative values are stored as 0.
template <ElementType out, class Panels, bool relu, class Value>
__device__ void stage_panel(unsigned char* panel, int lane, const Value& value) {
#pragma unroll
  for (int c = 0; c < Panels::kColumns; c += 16) {
    if constexpr (types::bytes_of(out) == 4) {
      using Two = tile::TwoOf<SumOf<out>>;
#pragma unroll
      for (int part = 0; part < 4; ++part) {
        const tile::PairOf<SumOf<out>> pair = value(part % 2, c / 8 + part / 2);
        *reinterpret_cast<Two*>(panel + Panels::place(part % 2 * 8 + tile::pair_row(lane),
                                                      c + part / 2 * 8 + tile::pair_column(lane))) =
            Two{pair.low, pair.high};
      }
    } else {
      const auto word = [&](int half, int group) {
        return relu ? packed_relu<out>(value(half, group)) : packed<out>(value(half, group));
      };
      const std::uint32_t matrices[4] = {word(0, c / 8), word(1, c / 8), word(0, c / 8 + 1),
                                         word(1, c / 8 + 1)};
      ptx::stmatrix(panel + Panels::place(lane % 16, c + lane / 16 * 8), matrices);
    }
  }
}

// Stores sums to which C has been added, if beta is not 0 (epilogue/add_c.h). `op`, a PanelOp that
// has prepared the tile's first panel, may overwrite the sums.
template <ElementType out, int n, int buffers, class Sums, class Op>
__device__ void store_by_tma(StorePanels<out, n, buffers>& panels, Sums& sums, const GemmParams& p,
                             const MatrixD& d, int row, int column, Op& op) {
  using Panels = StorePanels<out, n, buffers>;
  constexpr int kColumns = Panels::kColumns, kPanels = n / kColumns;
  constexpr int kCount = Sums::kTilesM * kPanels;
  // WHY the limits: with more sums, too few registers are left for store_by_rows(); in a narrower
  // tile, store_by_rows() would store rows as short as a panel's.
  constexpr bool kByRows =
      Op::kIsPlain && Sums::kTilesM * n / 2 <= 128 && n * types::bytes_of(out) >= 256;
  if (kByRows && d.copied == 0) {
    return store_by_rows<out, n, sizeof panels.panel>(panels.panel[0], sums, p, row, column);
  }
  const int lane = threadIdx.x % 32;
  const auto row_of = [&](int i) { return row + i / kPanels * tile::kWgmmaM; };
  const auto column_of = [&](int i) { return column + i % kPanels * kColumns; };
  const bool elected = ptx::elect_one();  // HW: always the same lane
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    Panel<kColumns, Sums> values{sums, i / kPanels, i % kPanels * kColumns};
    op.apply(values, p);
    if (i + 1 < kCount) op.prepare(row_of(i + 1), column_of(i + 1));
    unsigned char* panel = panels.panel[i % buffers];
    // Waits until the panel is free; at the start of a tile, until all panels are free.
    if (elected && i == 0) ptx::bulk_wait_group_read<0>();
    if (elected && i > 0) ptx::bulk_wait_group_read<buffers - 1>();
    __syncwarp();
    if constexpr (Op::kWritesX) {
      op.template store_x<Panels>(panel, values, p, row_of(i), column_of(i));
    }
    op.write(values, p, [&](auto relu, const auto& value) {
      stage_panel<out, Panels, decltype(relu)::value>(panel, lane, value);
    });
    store_panel<!kByRows, Panels>(panel, p, d, row_of(i), column_of(i), elected);
  }
}

// Sums of wgmma with A in registers (tile/wgmma_fragments.h): a warp has 32 rows, a thread four
// neighbouring rows. If the operands were exchanged, D is the transposed product: rows of D are
// columns of the sums, and one row of a panel holds the warp's 32 rows.

// Fills a panel with sixteen of the warp's rows by 32 columns of the sums, from `column` on. `half`
// selects the rows.
template <class Panels, class Sums>
__device__ void fill_panel(unsigned char* panel, const Sums& sums, const GemmParams& p, int half,
                           int column, tile::Coord<> corner) {
  const int lane = threadIdx.x % 32, chunk = tile::fragment_chunk(lane);
  if (chunk / 4 != half) return;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int row = chunk % 4 * 4 + i;
#pragma unroll
    for (int c = 0; c < Panels::kColumns; c += 8) {
      const int at = c + tile::pair_column(lane);
      const tile::Pair pair = combine<ElementType::kF32, false>(
          p, sums.pair(i / 2, i % 2, (column + c) / 8), corner.m + row, corner.n + at);
      *reinterpret_cast<float2*>(panel + Panels::place(row, at)) = {pair.low, pair.high};
    }
  }
}

// Turns sixteen columns of the sums, from `column` on, into rows of a panel: 32 outputs each.
template <class Panels, class Sums>
__device__ void fill_transposed(unsigned char* panel, const Sums& sums, const GemmParams& p,
                                int column, tile::Coord<> corner) {
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
        pair[i] = combine<ElementType::kF32, false>(p, sum, corner.m + row, corner.n + at + 2 * i);
      }
      *reinterpret_cast<float4*>(panel + Panels::place(row, at)) = {pair[0].low, pair[0].high,
                                                                    pair[1].low, pair[1].high};
    }
  }
}

// `corner` is the position of the warp's first output in D. C has been added to the sums, if beta
// is not 0 (epilogue/add_c.h).
template <bool transposed, int n, int buffers, class Sums>
__device__ void store_fragments_by_tma(StorePanels<ElementType::kF32, n, buffers>& panels,
                                       const Sums& sums, const GemmParams& p, const MatrixD& d,
                                       tile::Coord<> corner) {
  using Panels = StorePanels<ElementType::kF32, n, buffers>;
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
      fill_transposed<Panels>(panel, sums, p, 16 * i, at);
    } else {
      fill_panel<Panels>(panel, sums, p, i % 2, i / 2 * 32, at);
    }
    store_panel<true, Panels>(panel, p, d, at.m, at.n, elected);
  }
}

}  // namespace tessera::epilogue
