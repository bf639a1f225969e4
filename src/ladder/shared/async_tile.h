// The shape of kernels that load tiles by asynchronous copies: a ring of stages in shared memory,
// and lanes arranged as in kernels/tile/lanes.h. For host and device.
#pragma once

#include "base/config.h"

namespace tessera::ladder {

struct AsyncTile {
  BlockTile block;          // k: depth of a stage
  int stages;               // in the ring
  OutputTile warps, lanes;  // warps per block, lanes per warp
  OutputTile thread;        // outputs of one thread
  Majors majors;

  constexpr int threads() const { return 32 * warps.m * warps.n; }
  constexpr int ctas_per_sm() const { return 1; }

  // Floats from one k to the next. A tile that the copy transposes is padded: a warp writes 8 k by
  // 4 rows at a time, which are then in 32 different banks.
  constexpr int pitch_a() const { return block.m + (majors.a == Major::kK ? 4 : 0); }
  constexpr int pitch_b() const { return block.n + (majors.b == Major::kK ? 4 : 0); }
  constexpr int shared_bytes() const { return stages * block.k * (pitch_a() + pitch_b()) * 4; }
};

constexpr bool is_legal(const AsyncTile& c) {
  const bool tiles_fit = c.block.m == c.warps.m * c.lanes.m * c.thread.m &&
                         c.block.n == c.warps.n * c.lanes.n * c.thread.n &&
                         c.lanes.m * c.lanes.n == 32;
  return tiles_fit && c.thread.m % 4 == 0 && c.thread.n % 4 == 0 && c.stages >= 2 &&
         c.block.k % 8 == 0 && c.block.m * c.block.k % (4 * c.threads()) == 0 &&
         c.block.n * c.block.k % (4 * c.threads()) == 0 && c.shared_bytes() <= 227 * 1024;
}

//                                       block, stages, warps, lanes, thread
inline constexpr AsyncTile k256x128x16{{256, 128, 16}, 4, {4, 2}, {4, 8}, {16, 8}, {}};

}  // namespace tessera::ladder
