// An operand tile in shared memory with rows padded by one vector, so that neighbouring rows begin
// in different banks: for tiles that are too small for a swizzle. Pure constexpr except for the
// elements: the host tests that loads have no bank conflicts.
#pragma once

namespace tessera::tile {

// `outer` is m of A, n of B. If the tile is along k there is one row per m (or n), else one per k.
template <class T, int outer_, int k_, bool along_k_>
struct PaddedTile {
  using Element = T;
  static constexpr bool kAlongK = along_k_;
  static constexpr int kOuter = outer_, kK = k_;
  static constexpr int kRow = kAlongK ? kK : kOuter, kRows = kAlongK ? kOuter : kK;
  static constexpr int kPitch = kRow + 16 / static_cast<int>(sizeof(T));  // elements

  alignas(16) T elements[kRows * kPitch];

  // The position of element (outer, k), in elements.
  static constexpr int place(int outer, int k) {
    return kAlongK ? outer * kPitch + k : k * kPitch + outer;
  }
};

}  // namespace tessera::tile
