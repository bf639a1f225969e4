// The shapes of the FP32 kernels for batches of small products. Few warps a tile and many
// CTAs an SM: the operands of thousands of products are then on their way at a time.
#pragma once

#include "base/config.h"

namespace tessera::small {

struct Config {
  BlockTile block;   // k: of the operands in shared memory at a time
  OutputTile warps;  // of the block
  int teams;         // of so many warps in a CTA, each with tiles of its own
  int ctas;          // per SM, that registers must suffice for
  Majors majors = {};

  constexpr int team() const { return 32 * warps.m * warps.n; }  // threads
  constexpr int threads() const { return teams * team(); }
  constexpr int ctas_per_sm() const { return ctas; }
  constexpr OutputTile warp() const { return {block.m / warps.m, block.n / warps.n}; }
  // Eight by four lanes, each with neighbours in both directions.
  static constexpr OutputTile kLanes{8, 4};
  constexpr OutputTile thread() const { return {warp().m / kLanes.m, warp().n / kLanes.n}; }
};

constexpr bool is_power_of_two(int x) { return x > 0 && (x & (x - 1)) == 0; }

constexpr bool is_legal(const Config& c) {
  constexpr int kStaticShared = 48 * 1024;  // HW: of a block, without asking the driver for more
  const OutputTile warp = c.warp();
  const bool warps = warp.m * c.warps.m == c.block.m && warp.n * c.warps.n == c.block.n &&
                     is_power_of_two(warp.m) && is_power_of_two(warp.n) && warp.m >= 16 &&
                     warp.n >= 16;
  // All threads copy as many whole vectors of each operand.
  const int vector = 4;
  const int smaller = c.block.m < c.block.n ? c.block.m : c.block.n;
  const bool copies = is_power_of_two(c.block.k) && c.block.k >= 16 && c.block.k <= 32 &&
                      c.team() * vector <= smaller * c.block.k;
  // One warp waits for itself alone. Two stages of each team,
  const bool teams = c.teams == 1 || c.team() == 32;
  // each row padded by a vector, whichever way an operand lies.
  const int elements = (c.block.m + c.block.n + 2 * vector) * (c.block.k + vector);
  return warps && copies && teams && c.threads() <= 1024 && c.ctas * c.threads() <= 1536 &&
         2 * c.teams * elements * 4 <= kStaticShared;
}

// Block, warps, teams, CTAs per SM.
namespace f32 {
inline constexpr auto kConfigs = for_all_majors<Config>({
    {"16x16", {{16, 16, 16}, {1, 1}, 4, 6}},
    {"32x32", {{32, 32, 32}, {1, 1}, 2, 6}},
    {"64x64", {{64, 64, 16}, {2, 2}, 1, 4}},
});
}

}  // namespace tessera::small
