// Fragments of FP64 operands in registers, in the layout of dmma_lanes.h, and their loads.
#pragma once

#include <cuda/std/type_traits>

#include "kernels/ptx/load_double.h"
#include "kernels/tile/dmma_lanes.h"
#include "kernels/tile/swizzled_tile.h"

namespace tessera::tile {

// The fragments of `count` groups of sixteen rows of A or columns of B, `depth` of k.
// `by_elements`: by DmmaElementLoads, else by DmmaLoads.
template <class Tile, int count, int depth, bool by_elements = false>
class DmmaFragments {
 public:
  static_assert(depth % 8 == 0 && Tile::kRow == kDmmaOuter);

  double x[count][2][depth / 4];  // group of sixteen x half x step of four k

  static constexpr int offset_of(int lane, int first_outer) {
    using Loads = cuda::std::conditional_t<by_elements, DmmaElementLoads<Tile>, DmmaLoads<Tile>>;
    return Loads::lane_offset(lane, first_outer);
  }

  // Loads the groups of sixteen from group `first` on, for the k from step * depth on in the tile.
  __device__ void load(const Tile& tile, int lane_offset, int first, int step) {
    if constexpr (by_elements) load_elements(tile, lane_offset, first, step * (depth / 4));
    if constexpr (!by_elements) load_pairs(tile, lane_offset, first, step * (depth / 8));
  }

 private:
  __device__ void load_pairs(const Tile& tile, int lane_offset, int first, int first_eight) {
#pragma unroll
    for (int i = 0; i < count; ++i) {
#pragma unroll
      for (int eight = 0; eight < depth / 8; ++eight) {
#pragma unroll
        for (int which = 0; which < 2; ++which) {
          const int offset =
              DmmaLoads<Tile>::offset(lane_offset, first + i, which, first_eight + eight);
          const double2 two = *reinterpret_cast<const double2*>(tile.bytes + offset);
          (Tile::kAlongK ? x[i][which][2 * eight] : x[i][0][2 * eight + which]) = two.x;
          (Tile::kAlongK ? x[i][which][2 * eight + 1] : x[i][1][2 * eight + which]) = two.y;
        }
      }
    }
  }
  __device__ void load_elements(const Tile& tile, int lane_offset, int first, int first_step) {
#pragma unroll
    for (int i = 0; i < count; ++i) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
#pragma unroll
        for (int step = 0; step < depth / 4; ++step) {
          x[i][half][step] = ptx::load_shared_double(
              tile.bytes +
              DmmaElementLoads<Tile>::offset(lane_offset, first + i, half, first_step + step));
        }
      }
    }
  }
};

}  // namespace tessera::tile
