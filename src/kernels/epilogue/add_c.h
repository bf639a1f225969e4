// Adds beta * C to all sums of a tile in registers, before the first of them is stored.
// WHY before: D, which tensor copies write, may be C. This order needs one fence per
// tile, between all reads of C and all copies to D. TRIED (H100, BF16, 4096): a fence
// that also covers shared memory, which is compiled to a MEMBAR of the whole GPU:
// slower.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cuda/std/type_traits>

#include "kernels/epilogue/load_pairs.h"
#include "kernels/epilogue/store_tma.h"
#include "kernels/ptx/cp_async.h"
#include "kernels/ptx/elect.h"
#include "kernels/ptx/fence.h"
#include "kernels/ptx/ldmatrix.h"
#include "kernels/tile/coord.h"
#include "kernels/tile/wgmma_fragments.h"

namespace tessera::epilogue {

namespace detail {

// Sets alpha and beta for sums that have become alpha * sum + beta * C.
__device__ inline void finish_adding_c(GemmParams& p) {
  p.alpha = 1;
  p.beta = 0;
  ptx::fence_proxy_async_global();
}

// The number of loads per thread in flight: limited by free registers, and a divisor of `count`.
template <class Sums, int words>
constexpr int loads_together(int count) {
  int together = (Sums::kCount <= 128 ? 16 : 4) / words;
  while (count % together != 0) together /= 2;
  return together;
}

// row_of(tile_m, half) returns the row of C that belongs to the lane's sums in half `half` of
// instruction `tile_m`. If `by_pairs`, loads pairs of elements where C is aligned for pairs.
template <ElementType out, bool by_pairs, class Sums, class RowOf>
__device__ void add_rows_of_c(Sums& sums, const GemmParams& p, int column, RowOf row_of) {
  using Sum = SumOf<out>;
  constexpr bool kIsSum = types::bytes_of(out) == sizeof(Sum);
  using Element = typename types::Storage<out>::Memory;
  using Loaded = cuda::std::conditional_t<kIsSum, tile::TwoOf<Sum>, std::uint32_t>;
  constexpr int kGroups = Sums::kTilesN * Sums::kN / 8;
  constexpr int kTogether = loads_together<Sums, sizeof(Loaded) / 4>(kGroups);
  const auto alpha = static_cast<Sum>(p.alpha), beta = static_cast<Sum>(p.beta);
  const auto* const c = static_cast<const Element*>(p.c);
  const bool aligned =
      by_pairs && p.c_row % 2 == 0 && reinterpret_cast<std::uintptr_t>(c) % sizeof(Loaded) == 0;
#pragma unroll
  for (int i = 0; i < 2 * Sums::kTilesM * kGroups; i += kTogether) {
    const int tile_m = i / (2 * kGroups), half = i / kGroups % 2, group = i % kGroups;
    const int row = row_of(tile_m, half);
    const int at = column + tile::pair_column(static_cast<int>(threadIdx.x) % 32) + 8 * group;
    Loaded loaded[kTogether];
    load_pairs(loaded, c + row * p.c_row + at, row < p.m ? static_cast<int>(p.n) - at : 0, aligned);
#pragma unroll
    for (int j = 0; j < kTogether; ++j) {
      const auto sum = sums.pair(tile_m, half, group + j), old = unpacked<out>(loaded[j]);
      sums.set_pair(
          tile_m, half, group + j,
          {combined(alpha, sum.low, beta, old.low), combined(alpha, sum.high, beta, old.high)});
    }
  }
}

}  // namespace detail

// Reads C for a warp's rows of a tile, by copies of 16 bytes into the panels that later store D.
// TRIED (H100, BF16, 4096, 128x256): pairs of C directly to registers, sixteen loads at a time,
// with and without a prefetch of C to L2 at the start of the tile: slower.
template <ElementType out, int n, int buffers, class Sums>
class PanelsOfC {
 public:
  using Panels = StorePanels<out, n, buffers>;

  // (row, column) is the warp's first output.
  __device__ PanelsOfC(Panels& panels, const GemmParams& p, int row, int column)
      : panels_(panels), p_(p), row_(row), column_(column) {}

  // Starts the first copies, after stores from the panels have ended. MMAs may still be running.
  // TRIED (H100, BF16): a start after all MMAs of the tile have been issued: slower at 1024 and at
  // 2048, because the few MMAs still running do not hide the copies.
  __device__ void start() {
    if (__builtin_expect(p_.beta == 0 || !takes_copies(), 1)) return;
    if (ptx::elect_one()) ptx::bulk_wait_group_read<0>();
    __syncwarp();
#pragma unroll
    for (int i = 0; i < std::min(buffers, kCount); ++i) copy(i);
  }

  // Call after start(). Adds C and returns the parameters for the store, which then needs no C.
  __device__ GemmParams add_to(Sums& sums) {
    GemmParams left = p_;
    if (__builtin_expect(p_.beta == 0, 1)) return left;
    if (takes_copies()) {
      add_panels<0>(sums);
    } else {
      const int lane = ptx::lane_anew();
      detail::add_rows_of_c<out, false>(sums, p_, column_, [&](int tile_m, int half) {
        return row_ + tile_m * tile::kWgmmaM + 8 * half + tile::pair_row(lane);
      });
    }
    detail::finish_adding_c(left);
    return left;
  }

 private:
  static constexpr int kColumns = Panels::kColumns, kPanels = n / kColumns;
  static constexpr int kCount = Sums::kTilesM * kPanels;

  __device__ bool takes_copies() const {
    return p_.c_row * types::bytes_of(out) % 16 == 0 &&
           reinterpret_cast<std::uintptr_t>(p_.c) % 16 == 0;
  }

  __device__ void copy(int i) {
    // A lane copies one piece of every kRows-th row.
    constexpr int kPer = 16 / types::bytes_of(out), kRows = 32 / Panels::kPieces;
    const int lane = ptx::lane_anew(), piece = lane % Panels::kPieces;
    const int row = row_ + i / kPanels * tile::kWgmmaM;
    const int column = column_ + i % kPanels * kColumns + piece * kPer;
    const int valid = std::clamp(static_cast<int>(p_.n) - column, 0, kPer) * types::bytes_of(out);
    const int rows = valid > 0 ? static_cast<int>(p_.m) - row : 0;
    const auto* const c =
        static_cast<const char*>(p_.c) + (row * p_.c_row + column) * types::bytes_of(out);
    unsigned char* const panel = panels_.panel[i % buffers];
#pragma unroll 1
    for (int r = lane / Panels::kPieces; r < kWarpRows; r += kRows) {
      const bool there = r < rows;
      ptx::cp_async_past_l1(panel + Panels::piece(r, piece),
                            there ? c + r * p_.c_row * types::bytes_of(out) : p_.c,
                            there ? valid : 0);
    }
    ptx::cp_async_commit_group();
  }

  template <int i>
  __device__ void add_panels(Sums& sums) {
    if constexpr (i < kCount) {
      ptx::cp_async_wait_group<std::min(buffers, kCount - i) - 1>();
      __syncwarp();
      add_panel(sums, panels_.panel[i % buffers], i / kPanels, i % kPanels * kColumns);
      if constexpr (i + buffers < kCount) {
        __syncwarp();  // all lanes have read the panel
        copy(i + buffers);
      }
      add_panels<i + 1>(sums);
    }
  }

  __device__ void add_panel(Sums& sums, const unsigned char* panel, int tile_m, int first) const {
    const int lane = ptx::lane_anew();
    using Sum = SumOf<out>;
    const auto add = [&](int half, int column, tile::PairOf<Sum> c) {
      const auto alpha = static_cast<Sum>(p_.alpha), beta = static_cast<Sum>(p_.beta);
      const tile::PairOf<Sum> sum = sums.pair(tile_m, half, (first + column) / 8);
      sums.set_pair(
          tile_m, half, (first + column) / 8,
          {combined(alpha, sum.low, beta, c.low), combined(alpha, sum.high, beta, c.high)});
    };
#pragma unroll
    for (int c = 0; c < kColumns; c += 16) {
      if constexpr (types::bytes_of(out) == sizeof(Sum)) {
#pragma unroll
        for (int part = 0; part < 4; ++part) {
          const int half = part % 2, column = c + part / 2 * 8;
          const auto& pair = *reinterpret_cast<const tile::TwoOf<Sum>*>(
              panel +
              Panels::place(half * 8 + tile::pair_row(lane), column + tile::pair_column(lane)));
          add(half, column, {pair.x, pair.y});
        }
      } else {
        std::uint32_t matrices[4];
        ptx::ldmatrix(matrices, panel + Panels::place(lane % 16, c + lane / 16 * 8));
#pragma unroll
        for (int part = 0; part < 4; ++part) {
          add(part % 2, c + part / 2 * 8, unpacked<out>(matrices[part]));
        }
      }
    }
  }

  Panels& panels_;
  const GemmParams& p_;
  int row_, column_;
};

// Adds C to FP32 sums of wgmma with A in registers (tile/wgmma_fragments.h). `corner` is the
// position in D of the warp's first output.
template <class Sums>
__device__ void add_c_to_fragments(Sums& sums, GemmParams& p, tile::Coord<> corner) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  detail::add_rows_of_c<ElementType::kF32, true>(sums, p, corner.n, [&](int tile_m, int half) {
    return corner.m + 4 * tile::fragment_chunk(lane) + 2 * tile_m + half;
  });
  detail::finish_adding_c(p);
}

// Like add_c_to_fragments, for a transposed D: neighbours in a row of D are in one column of sums.
template <class Sums>
__device__ void add_c_to_transposed(Sums& sums, GemmParams& p, tile::Coord<> corner) {
  constexpr int kGroups = Sums::kTilesN * Sums::kN / 8;
  constexpr int kTogether = detail::loads_together<Sums, 4>(2 * kGroups);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const auto alpha = static_cast<float>(p.alpha), beta = static_cast<float>(p.beta);
  const int column = corner.n + 4 * tile::fragment_chunk(lane);
  const auto* const c = static_cast<const float*>(p.c) + column;
  const bool aligned = p.c_row % 4 == 0 && reinterpret_cast<std::uintptr_t>(c) % 16 == 0;
#pragma unroll
  for (int i = 0; i < 2 * kGroups; i += kTogether) {
    float4 old[kTogether];
#pragma unroll
    for (int j = 0; j < kTogether; ++j) {
      const int row = corner.m + (i + j) / 2 * 8 + tile::pair_column(lane) + (i + j) % 2;
      const float* const from = c + row * p.c_row;
      const int there = row < p.m ? static_cast<int>(p.n) - column : 0;
      if (aligned && there >= 4) {
        old[j] = *reinterpret_cast<const float4*>(from);
      } else {
        const float2 first = pair_at(from, there), second = pair_at(from + 2, there - 2);
        old[j] = {first.x, first.y, second.x, second.y};
      }
    }
#pragma unroll
    for (int j = 0; j < kTogether; ++j) {
      const float of[4] = {old[j].x, old[j].y, old[j].z, old[j].w};
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        tile::Pair pair = sums.pair(r / 2, r % 2, (i + j) / 2);
        float& sum = (i + j) % 2 == 0 ? pair.low : pair.high;
        sum = alpha * sum + beta * of[r];
        sums.set_pair(r / 2, r % 2, (i + j) / 2, pair);
      }
    }
  }
  detail::finish_adding_c(p);
}

}  // namespace tessera::epilogue
