// What each lane of a warp holds of a product on the FP64 tensor cores. The instructions say which
// lane has which row, column and k of *theirs*; which row, column and k of the tile these are is up
// to us, as long as both operands agree on k. So lanes take the elements that are neighbours in
// shared memory, and a fragment is loaded 128 bits at a time in all layouts:
//
//   A, sixteen rows      lane (g, t): rows row(g) and row(g) + 1, for k = 2t and 2t + 1 of eight
//   B, sixteen columns   the same with columns: instruction 0 has the even ones, 1 the odd ones
//   D, 16 x 16           rows row(g), row(g) + 1; columns 2t, 2t + 1, 2t + 8, 2t + 9
//
// with g = lane / 4, t = lane % 4 and row(g) = 2 * (g / 2) + 8 * (g % 2). Stores are 128 bits and
// whole sectors. Pure constexpr: the host tests the map.
#pragma once

namespace tessera::tile {

// The matrix instructions: m x n x k. HW: sm_80 has the first, at full rate; sm_90 has all, the
// first at half of the others' rate.
enum class Dmma { kM8N8K4, kM16N8K4, kM16N8K8, kM16N8K16 };

inline constexpr int kDmmaOuter = 16;  // rows of A, or columns of B, that lanes hold together

// k of the fragments that are multiplied at a time: those of 128-bit loads, or of one instruction.
constexpr int dmma_depth(Dmma instruction) { return instruction == Dmma::kM16N8K16 ? 16 : 8; }

// Row of A, or column of B, among sixteen: `half` 0 or 1.
constexpr int dmma_outer(int lane, int half) {
  const int g = lane / 4;
  return g / 2 * 2 + g % 2 * 8 + half;
}
// k of the lane in step 0, 1, ... of four.
constexpr int dmma_k(int lane, int step) { return step / 2 * 8 + lane % 4 * 2 + step % 2; }
// The first of two neighbouring columns of D among sixteen: `pair` 0 or 1.
constexpr int dmma_column(int lane, int pair) { return lane % 4 * 2 + pair * 8; }

// Where a lane's loads of a shared tile are. A load is two doubles: neighbours in k where the tile
// is along k, else neighbours of the other index.
template <class Tile>
struct DmmaLoads {
  // Of the lane's first element; `first_outer`: of the warp, a multiple of sixteen.
  static constexpr int lane_offset(int lane, int first_outer) {
    return Tile::offset(first_outer + dmma_outer(lane, 0), dmma_k(lane, 0));
  }
  // Load `which` (0 or 1) of sixteen number `i`, eight k number `eight`. The first load of a lane
  // has all but bit 0 of its row's number in a tile along k, and bits 1 and 2 in the others.
  static constexpr int offset(int lane_offset, int i, int which, int eight) {
    if (Tile::kAlongK) {
      const int chunks = eight % 2 * (4 * Tile::kChunkBytes);
      return (lane_offset ^ chunks) + eight / 2 * Tile::kPanelBytes +
             (i * kDmmaOuter + which) * Tile::kRowBytes;
    }
    return Tile::rows_further(lane_offset, which) + eight * (8 * Tile::kRowBytes) +
           i * Tile::kPanelBytes;
  }
};

}  // namespace tessera::tile
