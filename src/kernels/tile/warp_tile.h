// Which outputs of a block's tile the threads own, so that 128-bit reads of shared memory have no
// excess wavefronts. Plain 8x8 squares side by side make lanes read every 32 bytes: two lanes meet
// in a bank. Here a warp's 32 lanes cover 8 x 4 subtiles of 4x4 outputs, a compact patch,
// and a thread's 8x8 outputs are four such subtiles, a fixed distance apart. Pure constexpr: the
// host tests the maps.
#pragma once

#include "base/config.h"
#include "kernels/tile/coord.h"

namespace tessera::tile {

inline constexpr int kSubtile = 4;         // outputs along each side of a subtile
inline constexpr OutputTile kLanes{8, 4};  // lanes of a warp, down and across
inline constexpr OutputTile kPatch{kLanes.m * kSubtile, kLanes.n* kSubtile};  // 32 x 16 outputs

// Warps over a block, and the distance between a thread's subtiles. A distance of one patch makes
// the warp's own tile compact (64 x 32); a distance of all warps' patches spreads it over the
// block.
struct WarpTile {
  OutputTile warps;
  OutputTile distance;
};

constexpr bool is_legal(WarpTile w) {
  const bool rows = w.distance.m == kPatch.m || w.distance.m == kPatch.m * w.warps.m;
  const bool cols = w.distance.n == kPatch.n || w.distance.n == kPatch.n * w.warps.n;
  return rows && cols;
}

// First output of the thread's first subtile; the others follow at +distance.m and +distance.n.
constexpr Coord<> subtile_origin(WarpTile w, int thread) {
  const int warp = thread / 32, lane = thread % 32;
  const int warp_row = warp / w.warps.n, warp_col = warp % w.warps.n;
  const int lane_row = lane % 16 / 2, lane_col = lane / 16 * 2 + lane % 2;
  // A compact warp tile owns both of its patches; spread ones interleave with the other warps'.
  const int pitch_m = w.distance.m == kPatch.m ? 2 * kPatch.m : kPatch.m;
  const int pitch_n = w.distance.n == kPatch.n ? 2 * kPatch.n : kPatch.n;
  return {warp_row * pitch_m + lane_row * kSubtile, warp_col * pitch_n + lane_col * kSubtile};
}

// Row i (or column, by the other distance) of a thread's eight, counted from its first subtile.
constexpr int offset_of(int i, int distance) { return i / kSubtile * distance + i % kSubtile; }

}  // namespace tessera::tile
