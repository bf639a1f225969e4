// Which elements of 16-bit and TF32 operands each lane of a warp loads for mma.sync, whose
// fragments ptx/mma.h lays out: sixteen rows of A, or columns of B, and 32 bytes of k, in four
// registers:
//
//         of A                                 of B
//   x[0]  the first eight, 16 bytes of k       the first eight, 16 bytes of k
//   x[1]  the second eight, the same bytes     the first eight, the next 16 bytes
//   x[2]  the first eight, the next 16 bytes   the second eight, the first 16 bytes
//   x[3]  the second eight, the next 16 bytes  the second eight, the next 16 bytes
//
// So A's are one operand of an instruction as they are, and B's are two. HW: an operand of two
// registers is an even register and the next one; in A's order each would be moved first. Pure
// constexpr: the host tests the map.
#pragma once

#include "kernels/tile/either_tile.h"

namespace tessera::tile {

inline constexpr int kMmaOuter = 16;

enum class MmaOperand { kA, kB };

// Where a lane's loads of a shared tile are.
template <class Tile, MmaOperand operand = MmaOperand::kA>
struct MmaLoads {
  static constexpr int kBytes = sizeof(typename Tile::Element);
  static constexpr int kDepth = 32 / kBytes;  // k of an instruction
  // A tile along outer has the wrong order for ldmatrix, which transposes 16-bit elements alone.
  static constexpr bool kByMatrix = Tile::kAlongK || kBytes == 2;
  static constexpr bool kTransposed = !Tile::kAlongK && kBytes == 2;

  // What the lane names among the sixteen rows or columns and the 32 bytes of k: the first element
  // of a matrix's row, or the one of x[0].
  static constexpr int outer(int lane) {
    if (!kByMatrix) return lane / 4;
    return second_eight(lane / 8) * 8 + (Tile::kAlongK ? lane % 8 : 0);
  }
  static constexpr int k(int lane) {
    if (!kByMatrix) return lane % 4;
    return next_bytes(lane / 8) * (kDepth / 2) + (Tile::kAlongK ? 0 : lane % 8);
  }

  // Of the lane's first load; `first_outer`: of the warp, a multiple of its tile's extent, which is
  // a power of two.
  static constexpr int lane_offset(int lane, int first_outer) {
    return Tile::offset(first_outer + outer(lane), k(lane));
  }
  // Of sixteen number `i`, 32 bytes of k number `step`.
  static constexpr int offset(int lane_offset, int i, int step) {
    constexpr int kSteps = Tile::kRowBytes / 32, kSixteens = Tile::kRow / kMmaOuter;  // of a row
    if (Tile::kAlongK) {
      return (lane_offset ^ step % kSteps * 32) + step / kSteps * Tile::kPanelBytes +
             i * (kMmaOuter * Tile::kRowBytes);
    }
    return (lane_offset ^ i % kSixteens * kMmaOuter * kBytes) + i / kSixteens * Tile::kPanelBytes +
           step * (kDepth * Tile::kRowBytes);
  }
  // Without ldmatrix: the word of x[which], given where that of x[0] is.
  static constexpr int word(int offset, int which) {
    const int across = offset ^ second_eight(which) * 8 * kBytes;
    return next_bytes(which) == 0 ? across : Tile::rows_further(across, kDepth / 2);
  }

 private:
  // Of register `which`.
  static constexpr int second_eight(int which) {
    return operand == MmaOperand::kA ? which % 2 : which / 2;
  }
  static constexpr int next_bytes(int which) {
    return operand == MmaOperand::kA ? which / 2 : which % 2;
  }
};

// The lane's first load of an EitherTile.
template <class Tile, MmaOperand operand>
constexpr int mma_lane_offset(bool along_k, int lane, int first_outer) {
  return along_k ? MmaLoads<typename Tile::AlongK, operand>::lane_offset(lane, first_outer)
                 : MmaLoads<typename Tile::AlongOuter, operand>::lane_offset(lane, first_outer);
}

}  // namespace tessera::tile
