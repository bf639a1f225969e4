// BF16 tensor cores by matrix instructions: a block of 128 x 128 outputs, 2 x 4 warps.
#pragma once

#include "base/config.h"

namespace tessera::mma_sync {

inline constexpr int kPortableArch = 80;  // HW: BF16 mma.sync and cp.async exist from compute 8.0

struct Config {
  BlockTile block;   // k: depth of a stage
  int stages;        // in the ring in shared memory
  OutputTile warps;  // per block

  constexpr int threads() const { return 32 * warps.m * warps.n; }
  constexpr int ctas_per_sm() const { return 1; }
  constexpr OutputTile warp() const { return {block.m / warps.m, block.n / warps.n}; }
  constexpr int shared_bytes() const { return stages * block.k * (block.m + block.n) * 2; }
};

constexpr bool is_legal(const Config& c) {
  constexpr int kShared = 227 * 1024;  // HW: per block, compute capability 9.0
  return c.warp().m * c.warps.m == c.block.m && c.warp().m % 16 == 0 &&
         c.warp().n * c.warps.n == c.block.n && c.warp().n % 16 == 0 && c.block.k % 64 == 0 &&
         c.stages >= 2 && c.shared_bytes() <= kShared;
}

inline constexpr auto kConfigs = rows_of<Config>({{"128x128x64", {{128, 128, 64}, 3, {2, 4}}}});

}  // namespace tessera::mma_sync
