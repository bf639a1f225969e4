// The protocol between a store of a tile and the epilogue that it applies. A PanelOp has
//
//   prepare(row, column)   starts the loads for the panel that begins there in D, while the tensor
//                          cores, or the panel before, are still at work
//   apply(panel, p)        to the sums of that panel, in their place
//   write(panel, p, to)    after it, when there is room in shared memory: calls to(relu, value)
//                          once, with value(half, group): a pair. `relu`, a constant: negative
//                          values are stored as 0
//   value(x, row, column)  what becomes of beta * C where there is no product
//   kIsPlain               it is alpha * sum and no more, so sums may leave in any order
//
// How far D extends is in the parameters p of the product. C is in the sums already (add_c.h).
//
// WHY panels: all loads of a panel are in flight at a time, what all threads know is asked once for
// sixteen pairs, and a bias comes while the tile or the panel before is still at work.
#pragma once

#include <cuda/std/type_traits>

#include "kernels/tile/accumulators.h"
#include "launch/params.h"

namespace tessera::epilogue {

// The outputs of a lane in one panel of a warp, (16, columns), in the place of its sums: (half,
// group) is the pair of a row in the upper or lower eight and of columns 8 * group on. WHY in
// place: sums keep their registers until the next tile, and beside 192 of them there are 40.
template <int columns, class Sums>
struct Panel {
  static constexpr int kColumns = columns, kGroups = columns / 8;
  Sums& sums;
  int tile_m, first;  // constants to the compiler

  __device__ tile::Pair pair(int half, int group) const {
    return sums.pair(tile_m, half, first / 8 + group);
  }
  // To change(pair, half, group).
  template <class Change>
  __device__ void change(Change change) {
#pragma unroll
    for (int i = 0; i < 2 * kGroups; ++i) {
      const int half = i / kGroups, group = i % kGroups;
      sums.set_pair(tile_m, half, first / 8 + group, change(pair(half, group), half, group));
    }
  }
};

// alpha * sum: of a product without an epilogue.
struct ScaledSums {
  static constexpr bool kIsPlain = true;

  __device__ void prepare(int, int) {}
  template <class Panel>
  __device__ void apply(Panel&, const GemmParams&) {}
  template <class Panel, class To>
  __device__ void write(const Panel& panel, const GemmParams& p, const To& to) const {
    to(cuda::std::false_type{}, [&](int half, int group) -> tile::Pair {
      const tile::Pair sum = panel.pair(half, group);
      const auto alpha = static_cast<float>(p.alpha);
      return {alpha * sum.low, alpha * sum.high};
    });
  }
  __device__ float value(float x, long long, long long) const { return x; }
};

}  // namespace tessera::epilogue
