// FP64 tensor cores by matrix instructions: a block of 128 x 128 outputs, 4 x 2 warps.
#pragma once

#include "base/config.h"

namespace tessera::dmma {

inline constexpr int kPortableArch = 90;  // HW: FP64 mma of 16 rows exists from compute 9.0

struct Config {
  BlockTile block;   // k: depth of a stage
  int stages;        // in the ring in shared memory
  OutputTile warps;  // per block
  Majors majors = {};

  constexpr int threads() const { return 32 * warps.m * warps.n; }
  constexpr int ctas_per_sm() const { return 1; }
  constexpr OutputTile warp() const { return {block.m / warps.m, block.n / warps.n}; }
  constexpr int shared_bytes() const { return stages * block.k * (block.m + block.n) * 8; }
};

constexpr bool is_legal(const Config& c) {
  constexpr int kShared = 227 * 1024;  // HW: per block, compute capability 9.0
  return c.warp().m * c.warps.m == c.block.m && c.warp().m % 16 == 0 &&
         c.warp().n * c.warps.n == c.block.n && c.warp().n % 16 == 0 && c.block.k % 16 == 0 &&
         c.threads() % c.block.m == 0 && c.threads() % c.block.n == 0 && c.stages >= 2 &&
         c.shared_bytes() <= kShared;
}

inline constexpr auto kConfigs =
    for_all_majors<Config>({{"128x128x16", {{128, 128, 16}, 3, {4, 2}}}});

}  // namespace tessera::dmma
