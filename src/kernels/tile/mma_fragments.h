// Fragments of 16-bit and TF32 operands in registers, in the layout of mma_lanes.h, and their
// loads.
#pragma once

#include "kernels/ptx/ldmatrix.h"
#include "kernels/ptx/mma.h"
#include "kernels/tile/mma_lanes.h"

namespace tessera::tile {

// The fragments of `count` groups of sixteen rows or columns of an EitherTile.
template <class Tile, int count, MmaOperand operand>
struct MmaFragments {
  std::uint32_t x[count][4];

  __device__ void load(const Tile& tile, bool along_k, int lane_offset, int step) {
    if (along_k) {
      load_from<typename Tile::AlongK>(tile.bytes, lane_offset, step);
    } else {
      load_from<typename Tile::AlongOuter>(tile.bytes, lane_offset, step);
    }
    if constexpr (sizeof(typename Tile::Element) == 4) round();
  }

 private:
  template <class From>
  __device__ void load_from(const unsigned char* bytes, int lane_offset, int step) {
    using Loads = MmaLoads<From, operand>;
    // WHY in a register: else the compiler has a separate register for the offset of every load.
    const int at = static_cast<int>(ptx::kept_in_register(lane_offset));
#pragma unroll
    for (int i = 0; i < count; ++i) {
      const int offset = Loads::offset(at, i, step);
      if constexpr (Loads::kTransposed) {
        ptx::ldmatrix_transposed(x[i], bytes + offset);
      } else if constexpr (Loads::kByMatrix) {
        ptx::ldmatrix(x[i], bytes + offset);
      } else {
#pragma unroll
        for (int which = 0; which < 4; ++which) {
          x[i][which] = *reinterpret_cast<const std::uint32_t*>(bytes + Loads::word(offset, which));
        }
      }
    }
  }

  // Rounds to TF32. WHY: the instruction would ignore the low bits, which is rounding towards zero.
  __device__ void round() {
#pragma unroll
    for (int i = 0; i < 4 * count; ++i) x[i / 4][i % 4] = ptx::to_tf32(x[i / 4][i % 4]);
  }
};

}  // namespace tessera::tile
