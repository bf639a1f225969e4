// The outputs of a block's tile that each thread owns, chosen so that 128-bit loads of shared
// memory have no excess wavefronts. With 8x8 squares side by side, lanes would load at distances of
// 32 bytes, with 2-way bank conflicts. Here a warp's 32 lanes cover a compact patch of 8 x 4
// subtiles of 4x4 outputs, and a thread's 8x8 outputs are four such subtiles, a fixed distance
// apart. Pure constexpr: the host tests the maps.
#pragma once

#include "base/config.h"
#include "kernels/tile/coord.h"

namespace tessera::tile {

inline constexpr int kSubtile = 4;         // outputs along each side of a subtile
inline constexpr OutputTile kLanes{8, 4};  // lanes of a warp along m and n
inline constexpr OutputTile kPatch{kLanes.m * kSubtile, kLanes.n* kSubtile};  // 32 x 16 outputs

// The grid of warps over a block, and the distance between a thread's subtiles. A distance of one
// patch makes the warp's tile compact (64 x 32); a distance of all warps' patches spreads it over
// the block.
struct WarpTile {
  OutputTile warps;
  OutputTile distance;
};

constexpr bool is_legal(WarpTile w) {
  const bool rows = w.distance.m == kPatch.m || w.distance.m == kPatch.m * w.warps.m;
  const bool cols = w.distance.n == kPatch.n || w.distance.n == kPatch.n * w.warps.n;
  return rows && cols;
}

// Returns the first output of a thread's first subtile; the other three are distance.m, .n further.
constexpr Coord<> subtile_origin(WarpTile w, int thread) {
  const int warp = thread / 32, lane = thread % 32;
  const int warp_row = warp / w.warps.n, warp_col = warp % w.warps.n;
  const int lane_row = lane % 16 / 2, lane_col = lane / 16 * 2 + lane % 2;
  // Patches of a compact warp tile are adjacent; between those of a spread tile lie other warps'.
  const int pitch_m = w.distance.m == kPatch.m ? 2 * kPatch.m : kPatch.m;
  const int pitch_n = w.distance.n == kPatch.n ? 2 * kPatch.n : kPatch.n;
  return {warp_row * pitch_m + lane_row * kSubtile, warp_col * pitch_n + lane_col * kSubtile};
}

// Returns the offset of a thread's row (or column) i of eight from its first one.
constexpr int offset_of(int i, int distance) { return i / kSubtile * distance + i % kSubtile; }

}  // namespace tessera::tile
