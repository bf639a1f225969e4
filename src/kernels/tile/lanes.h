// The positions of lanes and their outputs in a warp's tile, chosen so that 128-bit loads of
// fragments have no bank conflicts and cost one issue slot each.
//
// The lanes form a grid; each owns subtiles of 4 x 4 outputs, a grid of subtiles apart. Lanes that
// differ in bit 0 or in bit 1 of their number load different addresses of both operands. WHY: if
// each lane loads the same address as lane^1, or each the same as lane^2, the hardware merges the
// 128-bit loads to two wavefronts instead of four. The registers are then written at twice the rate
// and take write ports from the FFMAs: 2.4 issue slots a load instead of 1 (measured on an H200,
// results/calibration/h200_registers.json). Here issue slots are scarce, and wavefronts are not.
// Pure constexpr: the host tests the map.
#pragma once

#include "base/config.h"
#include "kernels/tile/coord.h"

namespace tessera::tile {

inline constexpr int kVector = 4;  // floats per 128-bit access

// A lane's coordinate in a grid of lanes.m x lanes.n = 32, both at least 4 unless one is 32 or 16.
constexpr Coord<> lane_coord(OutputTile lanes, int lane) {
  const int n = lane % lanes.n;
  return {lane / lanes.n ^ n % lanes.m, n};
}

// The coordinate of a thread's warp in a grid of warps.
constexpr Coord<> warp_coord(OutputTile warps, int thread) {
  return {thread / 32 / warps.n, thread / 32 % warps.n};
}

// The position in the warp's tile of a thread's output i along one side. The subtiles of a lane,
// each four elements, are `lanes` subtiles apart; `lane`: the lane's coordinate along that side.
constexpr int element_of(int lanes, int lane, int i) {
  return (i / kVector * lanes + lane) * kVector + i % kVector;
}

}  // namespace tessera::tile
