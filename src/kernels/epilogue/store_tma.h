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

// One row of a panel to a D that the copy engine does not take, by neighbouring words: the first
// and the last element may be half of one.
template <class Panels>
__device__ void store_row(const unsigned char* panel, int row, typename Panels::Element* to,
                          int width) {
  using Element = typename Panels::Element;
  constexpr int kPerWord = 4 / sizeof(Element);
  const auto from = [&](int c) {
    return *reinterpret_cast<const Element*>(panel + Panels::place(row, c));
  };
  const int lane = threadIdx.x % 32;
  if constexpr (kPerWord == 1) {
    for (int c = lane; c < width; c += 32) to[c] = from(c);
  } else {
    // Elements between the last whole word and the row's first one.
    const int behind = static_cast<int>(reinterpret_cast<unsigned long long>(to) / 2 % 2);
    const int c = lane * 2 - behind;
    if (c >= 0 && c + 1 < width) {
      *reinterpret_cast<std::uint32_t*>(to + c) = from(c) | static_cast<std::uint32_t>(from(c + 1))
                                                                << 16;
    } else if (c + 1 == 0 || c + 1 == width) {
      to[c < 0 ? 0 : c] = from(c < 0 ? 0 : c);
    }
    // One element more than whole words of 32 lanes.
    if (behind == 1 && lane == 31 && width == 32 * kPerWord) to[width - 1] = from(width - 1);
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

// `copied`: columns of D from the left that tensor copies store.
template <Out out, bool with_c, int n, int buffers, class Sums, class Op>
__device__ void store_by_tma(StorePanels<out, n, buffers>& panels, const Sums& sums,
                             const GemmParams& p, const TensorMap& d, int copied, int row,
                             int column, Op op) {
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
    // WHY all memory where C was read: D, which the copy writes, may be C.
    if constexpr (with_c) {
      ptx::fence_proxy_async();
    } else {
      ptx::fence_proxy_async_shared();
    }
    __syncwarp();
    if (elected) {
      if (column + first < copied) ptx::tensor_store(d, {column + first, panel_row}, panel);
      ptx::bulk_commit_group();  // an empty one, too: the waits above count panels
    }
    const int rest = static_cast<int>(p.n) - copied, place = copied - column - first;
    if (copied == 0) {
      store_rows<Panels>(panel, p, panel_row, column + first);
      __syncwarp();
    } else if (rest > 0 && place >= 0 && place < kColumns) {
      store_rest<Panels>(panel, place, rest, p, panel_row, copied);
      __syncwarp();
    }
  }
}

}  // namespace tessera::epilogue
