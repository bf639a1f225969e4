// One panel of a warp, (16, columns), on its way from sums to D of 16 bits:
//   D = activation(alpha * sum + beta * C + bias).
// WHY panels: all loads of a panel are in flight at a time, what all threads know is asked once for
// sixteen pairs, and a bias comes while the tile or the panel before is still at work.
// TRIED: each pair by itself, asking for C, bias and activation and loading both in its turn: 64
// loads one after another, each of which the tile waits for, and more code than where there
// is no epilogue.
#pragma once

#include <cstdint>

#include "kernels/epilogue/finish.h"
#include "kernels/epilogue/load_pairs.h"
#include "kernels/ptx/stmatrix.h"
#include "kernels/tile/accumulators.h"

namespace tessera::epilogue {

// What a lane adds to its outputs of a panel, as it lies in memory.
template <Out out, int columns>
struct PanelBias {
  static constexpr int kWords = columns / 8;
  static_assert(kWords >= 2);

  // Each holds two neighbours of a row; of a bias per row: twice the element of the upper and of
  // the lower eight rows.
  std::uint32_t words[kWords];

  // (row, column): where the panel begins in D. What lies beyond D gets 0.
  __device__ void load(const Vector& bias, int row, int column) {
#pragma unroll
    for (int i = 0; i < kWords; ++i) words[i] = 0;
    if (!bias.values) return;
    const int lane = threadIdx.x % 32;
    const int first = bias.by_row ? row + tile::pair_row(lane) : column + tile::pair_column(lane);
    const auto* const from = static_cast<const std::uint16_t*>(bias.values) + first;
    const int there = static_cast<int>(bias.count) - first;
    if (bias.by_row) {
      words[0] = there > 0 ? from[0] * 0x10001 : 0;
      words[1] = there > 8 ? from[8] * 0x10001 : 0;
    } else {
      load_pairs(words, from, there,
                 reinterpret_cast<std::uintptr_t>(bias.values) % sizeof words[0] == 0);
    }
  }
};

// The outputs of a lane, in the place of its sums: (half, group) is the pair of a row in the upper
// or lower eight and of columns 8 * group on. WHY in place: sums keep their registers until the
// next tile, and beside 192 of them there are 40.
template <Out out, int columns, class Sums>
struct PanelValues {
  static constexpr int kGroups = columns / 8;
  Sums& sums;
  int tile_m, first;  // constants to the compiler

  __device__ tile::Pair pair(int half, int group) const {
    return sums.pair(tile_m, half, first / 8 + group);
  }
  template <class Change>
  __device__ void change(Change change) {
#pragma unroll
    for (int i = 0; i < 2 * kGroups; ++i) {
      const int half = i / kGroups, group = i % kGroups;
      sums.set_pair(tile_m, half, first / 8 + group, change(pair(half, group), half, group));
    }
  }

  // alpha * sum + bias.
  __device__ void scale_and_add(float alpha, const PanelBias<out, columns>& bias, bool by_row) {
    const auto sum = [&](tile::Pair pair, std::uint32_t word) -> tile::Pair {
      const tile::Pair added = unpacked<out>(word);
      return {alpha * pair.low + added.low, alpha * pair.high + added.high};
    };
    if (by_row) {
      change([&](tile::Pair pair, int half, int) { return sum(pair, bias.words[half]); });
    } else {
      change([&](tile::Pair pair, int, int group) { return sum(pair, bias.words[group]); });
    }
  }

  template <class Function>
  __device__ void apply(Function function) {
    change([&](tile::Pair pair, int, int) -> tile::Pair {
      return {function(pair.low), function(pair.high)};
    });
  }

  // To shared memory. `relu`: negative values as 0.
  template <class Panels, bool relu>
  __device__ void stage(unsigned char* panel) const {
    const int lane = threadIdx.x % 32;
    const auto word = [&](int half, int group) {
      return relu ? packed_relu<out>(pair(half, group)) : packed<out>(pair(half, group));
    };
#pragma unroll
    for (int i = 0; i < kGroups; i += 2) {
      const std::uint32_t matrices[4] = {word(0, i), word(1, i), word(0, i + 1), word(1, i + 1)};
      ptx::stmatrix(panel + Panels::place(lane % 16, i * 8 + lane / 16 * 8), matrices);
    }
  }
};

}  // namespace tessera::epilogue
