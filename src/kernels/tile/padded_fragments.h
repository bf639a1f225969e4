// Fragments of 16-bit operands in registers, loaded from padded tiles, for mma.sync. mma_lanes.h
// defines the elements of each lane.
#pragma once

#include "kernels/ptx/ldmatrix.h"
#include "kernels/tile/mma_lanes.h"
#include "kernels/tile/padded_tile.h"

namespace tessera::tile {

// The fragments of `count` groups of sixteen rows or columns.
template <class Tile, int count, MmaOperand operand>
struct PaddedFragments {
  std::uint32_t x[count][4];

  // Loads rows (or columns) from `first` on, for group number `step` of sixteen k.
  __device__ void load(const Tile& tile, int lane, int first, int step) {
    using Loads = MmaLoads<Tile, operand>;
    static_assert(Loads::kByMatrix && Tile::kPitch % 8 == 0);
    const int at = Tile::place(first + Loads::outer(lane), Loads::k(lane));
#pragma unroll
    for (int i = 0; i < count; ++i) {
      const auto* row = &tile.elements[at + Tile::place(i * kMmaOuter, step * Loads::kDepth)];
      if constexpr (Loads::kTransposed) {
        ptx::ldmatrix_transposed(x[i], row);
      } else {
        ptx::ldmatrix(x[i], row);
      }
    }
  }
};

}  // namespace tessera::tile
