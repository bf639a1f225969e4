// The elements that each lane of a warp holds in a product on the FP64 tensor cores. An instruction
// assigns *its* rows, columns and k to lanes. The code may choose which rows, columns and k of the
// tile these are, if both operands agree on k. Here lanes take elements that are neighbours in
// shared memory, so that a fragment is loaded 128 bits at a time in all layouts:
//
//   A, sixteen rows      lane (g, t): rows row(g) and row(g) + 1, for k = 2t and 2t + 1 of eight,
//                        or t and t + 4 if operands along k are loaded 64 bits at a time
//   B, sixteen columns   the same with columns: instruction 0 has the even ones, 1 the odd ones
//   D, 16 x 16           rows row(g), row(g) + 1; columns 2t, 2t + 1, 2t + 8, 2t + 9
//
// with g = lane / 4, t = lane % 4 and row(g) = 2 * (g / 2) + 8 * (g % 2). Stores have 128 bits and
// fill whole sectors. Pure constexpr: the host tests the map.
#pragma once

namespace tessera::tile {

// The matrix instructions: m x n x k. HW: sm_80 has only the first instruction, at full rate; sm_90
// has all, and runs the first at half the rate of the other three.
enum class Dmma { kM8N8K4, kM16N8K4, kM16N8K8, kM16N8K16 };

inline constexpr int kDmmaOuter = 16;  // rows of A, or columns of B, per group of fragments

// The k of fragments: 8, which a warp's 128-bit loads cover, or 16 for the largest instruction.
constexpr int dmma_depth(Dmma instruction) { return instruction == Dmma::kM16N8K16 ? 16 : 8; }

// The lane's row of A, or column of B, among sixteen; `half` is 0 or 1.
constexpr int dmma_outer(int lane, int half) {
  const int g = lane / 4;
  return g / 2 * 2 + g % 2 * 8 + half;
}
// The lane's k in step 0, 1, ... A step is four k.
constexpr int dmma_k(int lane, int step) { return step / 2 * 8 + lane % 4 * 2 + step % 2; }
constexpr int dmma_element_k(int lane, int step) { return step * 4 + lane % 4; }
// The first of the lane's two neighbouring columns of D among sixteen; `pair` is 0 or 1.
constexpr int dmma_column(int lane, int pair) { return lane % 4 * 2 + pair * 8; }

// The offsets of a lane's loads from a shared tile. A load is two doubles: neighbours in k if the
// tile is along k, else neighbours along the other index.
template <class Tile>
struct DmmaLoads {
  // The lane's first offset. `first_outer`: the warp's first row or column, a multiple of 16.
  static constexpr int lane_offset(int lane, int first_outer) {
    return Tile::offset(first_outer + dmma_outer(lane, 0), dmma_k(lane, 0));
  }
  // Returns the offset of load `which` (0 or 1) for group `i` of sixteen and group `eight` of eight
  // k. WHY xor: row and k in lane_offset have no bit in common with the numbers added here.
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

// The same for loads of one double each, from a tile along k with ElementSwizzle.
template <class Tile>
struct DmmaElementLoads {
  static_assert(Tile::kAlongK);

  static constexpr int lane_offset(int lane, int first_outer) {
    return Tile::offset(first_outer + dmma_outer(lane, 0), dmma_element_k(lane, 0));
  }
  // Returns the offset of row half `half` and step `step` of group `i`.
  static constexpr int offset(int lane_offset, int i, int half, int step) {
    const int chunks = step % 4 * (2 * Tile::kChunkBytes);
    return (lane_offset ^ chunks) + step / 4 * Tile::kPanelBytes +
           (i * kDmmaOuter + half) * Tile::kRowBytes;
  }
};

}  // namespace tessera::tile
