// The epilogue that the store of a tile applies to a D of 16 bits, panel by panel:
//   D = activation(alpha * sum + beta * C + bias).
// TRIED: an epilogue for each pair, with its own loads and branches for C, bias and activation: the
// tile waits for 64 loads one after another, and the code is much longer than a store without an
// epilogue.
#pragma once

#include <cstdint>
#include <cuda/std/type_traits>

#include "kernels/epilogue/finish.h"
#include "kernels/epilogue/load_pairs.h"
#include "kernels/epilogue/panel_op.h"

namespace tessera::epilogue {

// The bias of a lane's outputs in one panel, in the format that it has in memory.
template <ElementType out, int columns>
struct PanelBias {
  static constexpr int kWords = columns / 8;
  static_assert(kWords >= 2);

  // A word has the values of two neighbouring columns. With a bias per row, words 0 and 1 have the
  // values of the lane's rows in the upper and the lower eight rows, each value twice.
  std::uint32_t words[kWords];

  // The panel begins at (row, column) of D. The bias of outputs outside of D is 0.
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

// The PanelOp (panel_op.h) of a bias and an activation, for panels of `columns` columns.
template <ElementType out, int columns>
struct BiasAndActivation {
  static constexpr bool kIsPlain = false, kWritesX = false;
  const Fused& of;
  PanelBias<out, columns> bias;  // for the next panel

  __device__ explicit BiasAndActivation(const Fused& of) : of(of) {}

  __device__ void prepare(int row, int column) { bias.load(of.bias, row, column); }

  // Turns the sums of the panel into alpha * sum + bias.
  template <class Panel>
  __device__ void apply(Panel& panel, const GemmParams& p) {
    const auto alpha = static_cast<float>(p.alpha);
    const auto sum = [&](tile::Pair pair, std::uint32_t word) -> tile::Pair {
      const tile::Pair added = unpacked<out>(word);
      return {alpha * pair.low + added.low, alpha * pair.high + added.high};
    };
    if (of.bias.by_row) {
      panel.change([&](tile::Pair pair, int half, int) { return sum(pair, bias.words[half]); });
    } else {
      panel.change([&](tile::Pair pair, int, int group) { return sum(pair, bias.words[group]); });
    }
  }

  template <class Panel, class To>
  __device__ void write(Panel& panel, const GemmParams&, const To& to) const {
    const auto value = [&](int half, int group) { return panel.pair(half, group); };
    // ReLU is a part of the conversion to 16 bits.
    const bool is_written =
        with_activation<GpuMath, true>(of.activation, [&]<class Activated>(Activated activated) {
          constexpr bool kIsRelu = cuda::std::is_same_v<Activated, Relu>;
          if constexpr (kIsRelu) to(cuda::std::true_type{}, value);
          if constexpr (!kIsRelu && !cuda::std::is_same_v<Activated, NoActivation>) {
            panel.change([&](tile::Pair pair, int, int) -> tile::Pair {
              return {activated(pair.low), activated(pair.high)};
            });
          }
          return kIsRelu;
        });
    if (!is_written) to(cuda::std::false_type{}, value);
  }

  __device__ float value(float x, long long row, long long column) const {
    return Finishing<out>{{{}, of.bias, of.activation}}(x, row, column);
  }
};

}  // namespace tessera::epilogue
