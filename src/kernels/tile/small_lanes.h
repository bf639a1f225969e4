// Which outputs of a warp's tile each lane has, in kernels for small products on CUDA cores. Eight
// by four lanes. Lanes that differ in bit 0 of their number have the same rows, and those that
// differ in bit 1 the same columns: the hardware then merges the 128-bit loads of both fragments to
// two wavefronts instead of four (lanes.h). Pure constexpr: the host tests the map.
#pragma once

#include "kernels/tile/coord.h"

namespace tessera::tile {

// Coordinate in the grid of eight by four lanes.
constexpr Coord<> small_lane(int lane) {
  return {lane / 2 % 2 + lane / 8 * 2, lane % 2 + lane / 4 % 2 * 2};
}

// Where the `count` outputs of a lane are along one side of the warp's tile: runs of neighbours,
// `lanes` runs apart; single ones where `apart`.
template <int count, int lanes, bool apart>
struct SmallPlaces {
  static constexpr int kRun = apart ? 1 : count < 4 ? count : 4;

  // The lane's first one, and number i counted from there.
  static constexpr int first(int lane) { return lane * kRun; }
  static constexpr int offset(int i) { return i / kRun * (lanes * kRun) + i % kRun; }
};

}  // namespace tessera::tile
