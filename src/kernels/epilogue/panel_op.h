// The protocol between the store of a tile and the epilogue that it applies. A PanelOp has
//
//   prepare(row, column)   starts the loads for the panel at (row, column) of D, while the tensor
//                          cores still compute or the previous panel is still being stored
//   apply(panel, p)        changes the sums of that panel in place
//   write(panel, p, to)    called after apply(), when there is room in shared memory: calls
//                          to(relu, value) once. value(half, group) returns a pair. `relu`, a
//                          constant: negative values are stored as 0
//   value(x, row, column)  returns the output for x = beta * C, for a D without a product
//   kIsPlain               whether outputs are only alpha * sum, so sums may leave in any order
//   kWritesX               whether store_x(panel, ...), between apply() and write(), stores X
//
// The parameters p of the product contain the extent of D. The sums already include C (add_c.h).
//
// WHY panels: all loads of a panel are in flight together, uniform branches are taken once per
// sixteen pairs, and a bias is loaded while the previous tile or panel is still in progress.
#pragma once

#include <cuda/std/type_traits>

#include "kernels/epilogue/linear_combination.h"
#include "kernels/tile/accumulators.h"
#include "launch/params.h"

namespace tessera::epilogue {

// A lane's outputs in a panel (16, columns) of a warp, in the registers of the sums. (half, group)
// names a pair: in the upper or lower eight rows, from column 8 * group on. WHY in place: sums keep
// their registers until the next tile, and 192 sums leave only 40 registers free.
template <int columns, class Sums>
struct Panel {
  static constexpr int kColumns = columns, kGroups = columns / 8;
  Sums& sums;
  int tile_m, first;  // known to the compiler as constants

  using Pair = typename Sums::Pair;

  __device__ Pair pair(int half, int group) const {
    return sums.pair(tile_m, half, first / 8 + group);
  }
  // Replaces each pair by change(pair, half, group).
  template <class Change>
  __device__ void change(Change change) {
#pragma unroll
    for (int i = 0; i < 2 * kGroups; ++i) {
      const int half = i / kGroups, group = i % kGroups;
      sums.set_pair(tile_m, half, first / 8 + group, change(pair(half, group), half, group));
    }
  }
};

// The PanelOp of a product without an epilogue: alpha * sum.
struct ScaledSums {
  static constexpr bool kIsPlain = true, kWritesX = false;

  __device__ void prepare(int, int) {}
  template <class Panel>
  __device__ void apply(Panel&, const GemmParams&) {}
  template <class Panel, class To>
  __device__ void write(const Panel& panel, const GemmParams& p, const To& to) const {
    using Pair = typename Panel::Pair;
    to(cuda::std::false_type{}, [&](int half, int group) -> Pair {
      const Pair sum = panel.pair(half, group);
      const auto alpha = static_cast<decltype(sum.low)>(p.alpha);
      return {scaled(alpha, sum.low), scaled(alpha, sum.high)};
    });
  }
  template <class Number>
  __device__ Number value(Number x, long long, long long) const {
    return x;
  }
};

}  // namespace tessera::epilogue
