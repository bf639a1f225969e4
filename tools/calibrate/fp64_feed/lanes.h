// The elements that a lane takes from a tile of rows along k, as tensor copies with 128-byte
// swizzle write it: a row has sixteen k of one m (or n), and its 16-byte chunk c is at c ^ row % 8.
// Instructions are m16n8k8. HW: DMMA reads its A from eight consecutive registers, row g and row
// g + 8 of one k side by side, and its B from four, two k of one column side by side. So a 128-bit
// load along k is in place for B and not for A. Pure constexpr: passes are counted at compile time.
#pragma once

#include <cstdint>

#include "kernels/ptx/swizzle.h"

namespace tessera::fp64_feed {

inline constexpr int kRowBytes = 128, kGroup = 16;  // bytes of a row; rows of a group of fragments

// For 64-bit loads. Lanes t = 0 ... 3 take neighbouring k, so that lanes of half a warp differ in
// the half of a chunk.
struct Singles {
  static constexpr int outer(int lane, int half) { return lane / 4 * 2 + half; }
  static constexpr int k(int lane, int step) { return lane % 4 + step * 4; }
};
// For 128-bit loads. A lane has two neighbouring k, one for each step.
struct Pairs {
  static constexpr int outer(int lane, int half) {
    const int g = lane / 4;
    return g % 2 * 4 + g / 2 % 2 * 2 + g / 4 * 8 + half;
  }
  static constexpr int k(int lane, int step) { return lane % 4 * 2 + step; }
};

// The offset of the lane's element of row half 0 and step 0, and of another of its elements: row
// group `i`, group `eight` of eight k. WHY xor: a row's half is bit 0 of its number, and the bits
// of step and eight are free in a lane's first k.
template <class Lanes>
constexpr int lane_offset(int lane, int first_row) {
  return static_cast<int>(ptx::swizzle_128b(static_cast<std::uint32_t>(
      (first_row + Lanes::outer(lane, 0)) * kRowBytes + Lanes::k(lane, 0) * 8)));
}
template <class Lanes>
constexpr int offset(int lane_offset, int i, int half, int eight, int step) {
  const int k = (eight * 8 + Lanes::k(0, step)) * 8;
  return (lane_offset ^ half * 16 ^ k) + (i * kGroup + half) * kRowBytes;
}

// Counts the passes of shared memory that a warp's load takes. HW: 16 lanes are served together if
// each loads 64 bits, 8 if each loads 128 bits; lanes that need the same bank take turns.
template <class Lanes>
constexpr int passes(int bytes, int half, int eight, int step) {
  int passes = 0;
  for (int first = 0; first < 32; first += kRowBytes / bytes) {
    int most = 0, taken[16] = {};  // pieces of eight bytes
    for (int lane = first; lane < first + kRowBytes / bytes; ++lane) {
      const int at = offset<Lanes>(lane_offset<Lanes>(lane, 0), 0, half, eight, step);
      for (int i = 0; i < bytes / 8; ++i) {
        const int turns = ++taken[(at / 8 + i) % 16];
        most = turns > most ? turns : most;
      }
    }
    passes += most;
  }
  return passes;
}
template <class Lanes>
constexpr bool passes_are(int bytes, int expected) {
  for (int i = 0; i < 8; ++i) {
    if (bytes == 16 && i / 4 > 0) continue;
    if (passes<Lanes>(bytes, i % 2, i / 2 % 2, i / 4) != expected) return false;
  }
  return true;
}
static_assert(passes_are<Singles>(8, 2) && passes_are<Pairs>(16, 4));  // no conflict
static_assert(passes_are<Pairs>(8, 4));                                // two lanes per bank

// Every element of 16 x 8 has one lane, and the offset is the element's place in the tile.
template <class Lanes>
constexpr bool covers() {
  bool seen[kGroup][16] = {};
  for (int i = 0; i < 32 * 8; ++i) {
    const int lane = i % 32, half = i / 32 % 2, step = i / 64 % 2, eight = i / 128;
    const int row = Lanes::outer(lane, half), k = Lanes::k(lane, step) + eight * 8;
    const std::uint32_t place = static_cast<std::uint32_t>(row * kRowBytes + k * 8);
    if (offset<Lanes>(lane_offset<Lanes>(lane, 0), 0, half, eight, step) !=
        static_cast<int>(ptx::swizzle_128b(place)))
      return false;
    seen[row][k] = true;
  }
  for (int i = 0; i < kGroup * 16; ++i)
    if (!seen[i / 16][i % 16]) return false;
  return true;
}
static_assert(covers<Singles>() && covers<Pairs>());

}  // namespace tessera::fp64_feed
