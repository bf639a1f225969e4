// Stores a warp's rows to a D that the copy engine cannot write, because its base or its rows are
// not at multiples of 16 bytes: from shared memory, mostly by aligned words of 16 bytes.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cuda/std/type_traits>

#include "kernels/epilogue/linear_combination.h"
#include "kernels/ptx/stmatrix.h"
#include "kernels/tile/realign.h"

namespace tessera::epilogue {

template <ElementType out>
using ElementOf = cuda::std::conditional_t<types::bytes_of(out) == 4, std::uint32_t, std::uint16_t>;

// The layout of staged rows: pieces (16 bytes) with the same number in eight rows use all banks.
template <int row_bytes>
struct StagedRows {
  static constexpr int kRowBytes = row_bytes, kPieces = row_bytes / 16;
  static_assert(kPieces >= 1 && 32 % kPieces == 0);
  __device__ static int piece(int row, int number) {
    return (row * kPieces + (number ^ row % (kPieces < 8 ? kPieces : 8))) * 16;
  }
  // Returns the position `bytes` after `place`: a multiple of 16 without bits of place's column.
  __device__ static int further(int place, int bytes) {
    return (place ^ (bytes & 112)) + (bytes & ~127);
  }
};

// Stores `rows` staged rows, of which the first `there` are inside D. `to` is the first of `width`
// elements in D, and rows are `pitch` elements apart. A lane stores one aligned piece of a row.
// Eight lanes store the rest at both ends of the row, less than two pieces, one by one. `together`:
// pieces per lane that are read before they are stored, limited by registers.
template <class Staged, class Element, int rows, int together>
__device__ void store_rows(const unsigned char* staged, Element* to, long long pitch, int there,
                           int width) {
  constexpr int kPer = 16 / sizeof(Element);  // elements of a piece
  constexpr int kAtOnce = 32 / Staged::kPieces < rows ? 32 / Staged::kPieces : rows;
  const int lane = threadIdx.x % 32;
  // Returns the number of elements from the last multiple of 16 bytes to the row's begin.
  const auto behind_of = [](const Element* row) {
    return static_cast<int>(reinterpret_cast<unsigned long long>(row) / sizeof(Element) % kPer);
  };
#pragma unroll together
  for (int first = 0; first < rows; first += kAtOnce) {
    const int row = first + lane / Staged::kPieces, number = lane % Staged::kPieces;
    Element* const begin = to + row * pitch;
    const int behind = behind_of(begin), at = number * kPer - behind;
    if (row >= min(there, rows) || at < 0 || at + kPer > width) continue;
    const uint4 high = *reinterpret_cast<const uint4*>(staged + Staged::piece(row, number));
    const uint4 low =
        *reinterpret_cast<const uint4*>(staged + Staged::piece(row, number == 0 ? 0 : number - 1));
    *reinterpret_cast<uint4*>(begin + at) =
        behind == 0 ? high : tile::realigned<Element>(low, high, kPer - behind);
  }
#pragma unroll 1
  for (int first = 0; first < rows; first += 4) {
    const int row = first + lane / 8;
    if (row >= min(there, rows)) continue;
    Element* const begin = to + row * pitch;
    const int behind = behind_of(begin);
    const int head = min((kPer - behind) % kPer, width), tail = (width - head) % kPer;
    for (int i = lane % 8; i < head + tail; i += 8) {
      const int column = i < head ? i : width - tail + i - head;
      begin[column] = *reinterpret_cast<const Element*>(staged + Staged::piece(row, column / kPer) +
                                                        column % kPer * sizeof(Element));
    }
  }
}

// Writes eight rows by `columns` sums of a warp into shared memory. value(c) returns the pair of
// sums at column c plus the lane's own column.
template <ElementType out, int columns, class Staged, class Value>
__device__ void stage_rows(unsigned char* staged, Value value) {
  const int lane = threadIdx.x % 32;
  if constexpr (types::bytes_of(out) == 4) {
    using Two = tile::TwoOf<SumOf<out>>;
    const int column = tile::pair_column(lane);
    const int first = Staged::piece(tile::pair_row(lane), column / 4) + column % 4 * 4;
#pragma unroll
    for (int c = 0; c < columns; c += 8) {
      const tile::PairOf<SumOf<out>> pair = value(c);
      *reinterpret_cast<Two*>(staged + Staged::further(first, c * 4)) = {pair.low, pair.high};
    }
  } else {
    const int first = Staged::piece(lane % 8, lane / 8);
#pragma unroll
    for (int c = 0; c < columns; c += 32) {
      const std::uint32_t matrices[4] = {packed<out>(value(c)), packed<out>(value(c + 8)),
                                         packed<out>(value(c + 16)), packed<out>(value(c + 24))};
      ptx::stmatrix(staged + Staged::further(first, c * 2), matrices);
    }
  }
}

// Stores a warp's sums, eight rows at a time, through `bytes` bytes of the warp's shared memory.
// Rows are as long as the memory allows, because long contiguous stores are fastest. TRIED: sixteen
// rows of 64 columns at a time, one word per lane: slower.
template <ElementType out, int n, int bytes, class Sums>
__device__ void store_by_rows(unsigned char* staged, const Sums& sums, const GemmParams& p, int row,
                              int column) {
  using Element = ElementOf<out>;
  constexpr int kRows = 8;
  // Columns at a time: limited by shared memory, by 512 bytes per warp store, and by the tile.
  constexpr int kMost = std::min(bytes / kRows, 512) / static_cast<int>(sizeof(Element));
  constexpr int kColumns = std::bit_floor(static_cast<unsigned>(std::min(kMost, n)));
  using Staged = StagedRows<kColumns * sizeof(Element)>;
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < 2 * Sums::kTilesM; ++i) {
    const int tile_m = i / 2, half = i % 2, first_row = row + tile_m * tile::kWgmmaM + 8 * half;
    const int there = static_cast<int>(min(p.m - first_row, static_cast<long long>(kRows)));
#pragma unroll
    for (int first = 0; first < n; first += kColumns) {
      const auto value = [&](int c) {
        return combine<out, false>(p, sums.pair(tile_m, half, (first + c) / 8),
                                   first_row + tile::pair_row(lane),
                                   column + first + c + tile::pair_column(lane));
      };
      __syncwarp();  // the previous rows have been stored
      if (first + kColumns <= n) {
        stage_rows<out, kColumns, Staged>(staged, value);
      } else {
        stage_rows<out, n % kColumns, Staged>(staged, value);
      }
      __syncwarp();
      const int at = column + first;
      const int width =
          static_cast<int>(min(p.n - at, static_cast<long long>(min(kColumns, n - first))));
      if (width > 0) {
        store_rows<Staged, Element, kRows, 4>(
            staged, static_cast<Element*>(p.d) + first_row * p.d_row + at, p.d_row, there, width);
      }
    }
  }
}

}  // namespace tessera::epilogue
