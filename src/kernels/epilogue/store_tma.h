// Accumulators to D through shared memory and the copy engine, which writes whole lines and clips
// the tile at the edge of the matrix. Each warp stores its own sixteen rows, panel by panel, and
// waits for no other warp: a panel is on its way while the next one is filled, and the last ones
// while the next tile is multiplied.
#pragma once

#include <cstdint>
#include <cuda/std/type_traits>

#include "kernels/epilogue/linear_combination.h"
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
  using Element = cuda::std::conditional_t<out == Out::kF32, std::uint32_t, std::uint16_t>;

  alignas(1024) unsigned char panel[buffers][kWarpRows * kRowBytes];

  // HW: the pattern exchanges pieces of 16 bytes by the number of the 128-byte line, modulo 8, 4
  // or 2.
  __device__ static int place(int row, int column) {
    const int offset = row * kRowBytes + column * bytes_of(out);
    return offset ^ (offset >> 3 & (kRowBytes - 16));
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

// What a lane stores of one row of a panel to a D that the copy engine does not take: a word, made
// of two where rows begin in the midst of one.
template <class Panels>
__device__ void store_row(const unsigned char* panel, int row, typename Panels::Element* to,
                          int width) {
  using Element = typename Panels::Element;
  constexpr int kPerWord = 4 / sizeof(Element), kWords = Panels::kRowBytes / 4;
  const int lane = threadIdx.x % 32;
  const auto word = [&](int i) {
    return *reinterpret_cast<const std::uint32_t*>(panel + Panels::place(row, i * kPerWord));
  };
  if constexpr (kPerWord == 1) {
    if (lane < width) to[lane] = word(lane);
  } else {
    // Elements between the last whole word and the row's first one.
    const int behind = static_cast<int>(reinterpret_cast<unsigned long long>(to) / 2 % 2);
    const int c = lane * 2 - behind;
    const std::uint32_t here = word(lane % kWords);
    const std::uint32_t before = __shfl_up_sync(0xffffffff, here, 1);
    const std::uint32_t value = behind ? __funnelshift_l(before, here, 16) : here;
    if (c >= 0 && c + 1 < width) *reinterpret_cast<std::uint32_t*>(to + c) = value;
    if (c == -1) to[0] = static_cast<Element>(here);
    if (c + 1 == width) to[c] = static_cast<Element>(value);
    // One element more than whole words of 32 lanes.
    if (lane == 31 && c + 2 < width) to[c + 2] = static_cast<Element>(here >> 16);
  }
}

// A panel, row by row: where D's base or its rows are no multiples of 16 bytes.
template <class Panels>
__device__ void store_rows(const unsigned char* panel, const GemmParams& p, int row, int column) {
  using Element = typename Panels::Element;
  static_assert(Panels::kColumns * sizeof(Element) <= 128, "one word a lane");
  const int width = min(static_cast<int>(p.n) - column, Panels::kColumns);
  const int rows = width > 0 ? min(static_cast<int>(p.m) - row, kWarpRows) : 0;
  Element* to = static_cast<Element*>(p.d) + row * p.d_row + column;
#pragma unroll 8
  for (int r = 0; r < kWarpRows; ++r) {
    if (r < rows) store_row<Panels>(panel, r, to + r * p.d_row, width);
  }
}

// A panel that the warp has filled, on its way.
template <bool with_c, class Panels>
__device__ void store_panel(unsigned char* panel, const GemmParams& p, const MatrixD& d, int row,
                            int column, bool elected) {
  // WHY all memory where C was read: D, which the copy writes, may be C.
  if constexpr (with_c) {
    ptx::fence_proxy_async();
  } else {
    ptx::fence_proxy_async_shared();
  }
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
  if (d.copied == 0) {
    store_rows<Panels>(panel, p, row, column);
    __syncwarp();
  } else if (rest > 0 && place >= 0 && place < Panels::kColumns) {
    store_rest<Panels>(panel, place, rest, p, row, d.copied);
    __syncwarp();
  }
}

template <Out out, bool with_c, int n, int buffers, class Sums, class Op>
__device__ void store_by_tma(StorePanels<out, n, buffers>& panels, const Sums& sums,
                             const GemmParams& p, const MatrixD& d, int row, int column, Op op) {
  using Panels = StorePanels<out, n, buffers>;
  constexpr int kColumns = Panels::kColumns, kPanels = n / kColumns;
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
      return combine<out, with_c>(p, sums.pair(tile_m, half, (first + c) / 8),
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
    store_panel<with_c, Panels>(panel, p, d, panel_row, column + first, elected);
  }
}

}  // namespace tessera::epilogue
