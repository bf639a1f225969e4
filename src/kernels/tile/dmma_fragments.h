// Fragments of FP64 operands in registers, in the layout of dmma_lanes.h, and their loads.
#pragma once

#include "kernels/ptx/load_double.h"
#include "kernels/tile/dmma_lanes.h"
#include "kernels/tile/swizzled_tile.h"

namespace tessera::tile {

// The fragments of `count` groups of sixteen rows of A or columns of B, `depth` of k.
// `by_elements`: loads single elements, from a tile along k.
template <class Tile, int count, int depth, bool by_elements = false>
struct DmmaFragments {
  static_assert(depth % 8 == 0 && Tile::kRow == kDmmaOuter);

  double x[count][2][depth / 4];  // group of sixteen x half x step of four k

  // Loads the groups of sixteen from group `first` on, for the k from step * depth on in the tile.
  __device__ void load(const Tile& tile, int lane_offset, int first, int step) {
#pragma unroll
    for (int i = 0; i < count; ++i) {
#pragma unroll
      for (int eight = 0; eight < depth / 8; ++eight) {
#pragma unroll
        for (int which = 0; which < 2; ++which) {
          const int offset =
              DmmaLoads<Tile>::offset(lane_offset, first + i, which, step * (depth / 8) + eight);
          if constexpr (by_elements) {
            static_assert(Tile::kAlongK);
            x[i][which][2 * eight] = ptx::load_shared_double(tile.bytes + offset);
            x[i][which][2 * eight + 1] = ptx::load_shared_double(tile.bytes + offset + 8);
            continue;
          }
          const double2 two = *reinterpret_cast<const double2*>(tile.bytes + offset);
          (Tile::kAlongK ? x[i][which][2 * eight] : x[i][0][2 * eight + which]) = two.x;
          (Tile::kAlongK ? x[i][which][2 * eight + 1] : x[i][1][2 * eight + which]) = two.y;
        }
      }
    }
  }
};

}  // namespace tessera::tile
