// Where the lanes of a warp and their outputs stand in a warp's tile, so that 128-bit reads of
// fragments are free of bank conflicts and cost one issue slot each.
//
// Lanes stand in a grid; each owns quarters of 4 x 4 outputs, a grid of quarters apart. Lanes that
// differ in bit 0 or in bit 1 of their number read different places of both operands.
// WHY: where all lanes agree with lane^1, or all with lane^2, the hardware merges their 128-bit
// loads to two wavefronts instead of four. The registers then come back at twice the rate and
// take write ports from the FFMAs: 2.4 issue slots a load instead of 1 (measured on an H200,
// results/h200_registers.json). Shared memory has wavefronts to spare here, issue slots not.
// Pure constexpr: the host tests the map.
#pragma once

#include "base/config.h"

namespace tessera::tile {

inline constexpr int kVector = 4;  // floats of a 128-bit access

struct LanePlace {
  int m, n;  // in the grid of lanes
};

// 32 lanes as `lanes.m` x `lanes.n`, both at least 4 unless one of them is 32 or 16.
constexpr LanePlace lane_place(OutputTile lanes, int lane) {
  const int n = lane % lanes.n;
  return {lane / lanes.n ^ n % lanes.m, n};
}

// Element i of a thread's `count` along one side, counted from the warp's tile: quarters of four
// neighbours, `lanes` quarters apart.
constexpr int element_of(int lanes, int place, int i) {
  return (i / kVector * lanes + place) * kVector + i % kVector;
}

}  // namespace tessera::tile
