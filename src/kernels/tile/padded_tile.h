// An operand tile in shared memory whose rows are one vector longer than what they hold, so that
// neighbouring rows begin in different banks: for tiles too small to be swizzled. Pure constexpr
// but for the elements: the host tests that lanes which load together meet in no bank.
#pragma once

namespace tessera::tile {

// `outer` is m of A, n of B. Rows are m (or n) where the tile is along k, else k.
template <class T, int outer_, int k_, bool along_k_>
struct PaddedTile {
  using Element = T;
  static constexpr bool kAlongK = along_k_;
  static constexpr int kOuter = outer_, kK = k_;
  static constexpr int kRow = kAlongK ? kK : kOuter, kRows = kAlongK ? kOuter : kK;
  static constexpr int kPitch = kRow + 16 / static_cast<int>(sizeof(T));  // elements

  alignas(16) T elements[kRows * kPitch];

  // Where element (outer, k) is, in elements.
  static constexpr int place(int outer, int k) {
    return kAlongK ? outer * kPitch + k : k * kPitch + outer;
  }
};

}  // namespace tessera::tile
