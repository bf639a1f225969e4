// The outputs of a warp's tile that each of its eight by four lanes has, for small products on CUDA
// cores. Lanes that differ only in bit 0 of their number have the same rows, lanes that differ only
// in bit 1 the same columns: the hardware then merges the 128-bit loads of both fragments to two
// wavefronts instead of four (lanes.h). Pure constexpr: the host tests the map.
#pragma once

#include "kernels/tile/coord.h"

namespace tessera::tile {

// A lane's coordinate in the grid of eight by four lanes.
constexpr Coord<> small_lane(int lane) {
  return {lane / 2 % 2 + lane / 8 * 2, lane % 2 + lane / 4 % 2 * 2};
}

// The positions of a lane's `count` outputs along one side of the warp's tile: runs of neighbours,
// `lanes` runs apart. With `apart`, a run is a single output.
template <int count, int lanes, bool apart>
struct SmallPlaces {
  static constexpr int kRun = apart ? 1 : count < 4 ? count : 4;

  // The position of the lane's first output, and the distance of output i from it.
  static constexpr int first(int lane) { return lane * kRun; }
  static constexpr int offset(int i) { return i / kRun * (lanes * kRun) + i % kRun; }
};

}  // namespace tessera::tile
