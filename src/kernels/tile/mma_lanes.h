// The elements of 16-bit and TF32 operands that each lane of a warp loads for mma.sync (layout of
// its fragments: ptx/mma.h): sixteen rows of A, or columns of B, and 32 bytes of k, in four
// registers:
//
//         A                                    B
//   x[0]  first eight rows, k bytes 0-15       first eight columns, k bytes 0-15
//   x[1]  second eight rows, k bytes 0-15      first eight columns, k bytes 16-31
//   x[2]  first eight rows, k bytes 16-31      second eight columns, k bytes 0-15
//   x[3]  second eight rows, k bytes 16-31     second eight columns, k bytes 16-31
//
// The four registers of A are one operand of an instruction, the four of B are two operands. HW: an
// operand of two registers is an even register and the next one; with A's order for B, each pair
// would have to be moved first. Pure constexpr: the host tests the map.
#pragma once

#include "kernels/tile/either_tile.h"

namespace tessera::tile {

inline constexpr int kMmaOuter = 16;

enum class MmaOperand { kA, kB };

// The offsets of a lane's loads from a shared tile.
template <class Tile, MmaOperand operand = MmaOperand::kA>
struct MmaLoads {
  static constexpr int kBytes = sizeof(typename Tile::Element);
  static constexpr int kDepth = 32 / kBytes;  // k per instruction
  // A tile along outer must be transposed, which ldmatrix can do only for 16-bit elements.
  static constexpr bool kByMatrix = Tile::kAlongK || kBytes == 2;
  static constexpr bool kTransposed = !Tile::kAlongK && kBytes == 2;

  // The row (or column) among sixteen, and the k, to which the lane's address points: the start of
  // a row of a matrix for ldmatrix, else element x[0].
  static constexpr int outer(int lane) {
    if (!kByMatrix) return lane / 4;
    return second_eight(lane / 8) * 8 + (Tile::kAlongK ? lane % 8 : 0);
  }
  static constexpr int k(int lane) {
    if (!kByMatrix) return lane % 4;
    return next_bytes(lane / 8) * (kDepth / 2) + (Tile::kAlongK ? 0 : lane % 8);
  }

  // The offset of the lane's first load. `first_outer`: the warp's first row or column, a multiple
  // of the extent of the warp's tile, which is a power of two.
  static constexpr int lane_offset(int lane, int first_outer) {
    return Tile::offset(first_outer + outer(lane), k(lane));
  }
  // Returns the offset for group `i` of sixteen rows and step `step` of k (32 bytes each).
  static constexpr int offset(int lane_offset, int i, int step) {
    constexpr int kSteps = Tile::kRowBytes / 32, kSixteens = Tile::kRow / kMmaOuter;  // per row
    if (Tile::kAlongK) {
      return (lane_offset ^ step % kSteps * 32) + step / kSteps * Tile::kPanelBytes +
             i * (kMmaOuter * Tile::kRowBytes);
    }
    return (lane_offset ^ i % kSixteens * kMmaOuter * kBytes) + i / kSixteens * Tile::kPanelBytes +
           step * (kDepth * Tile::kRowBytes);
  }
  // Returns the offset of x[which], given the offset of x[0], for loads without ldmatrix.
  static constexpr int word(int offset, int which) {
    const int across = offset ^ second_eight(which) * 8 * kBytes;
    return next_bytes(which) == 0 ? across : Tile::rows_further(across, kDepth / 2);
  }

 private:
  // Whether register `which` has the second eight rows (columns), and the second 16 bytes of k.
  static constexpr int second_eight(int which) {
    return operand == MmaOperand::kA ? which % 2 : which / 2;
  }
  static constexpr int next_bytes(int which) {
    return operand == MmaOperand::kA ? which / 2 : which % 2;
  }
};

// The offset of the lane's first load from an EitherTile.
template <class Tile, MmaOperand operand>
constexpr int mma_lane_offset(bool along_k, int lane, int first_outer) {
  return along_k ? MmaLoads<typename Tile::AlongK, operand>::lane_offset(lane, first_outer)
                 : MmaLoads<typename Tile::AlongOuter, operand>::lane_offset(lane, first_outer);
}

}  // namespace tessera::tile
