// BF16 tensor cores through the WMMA API: a block of 128 x 128 outputs, 4 x 2 warps.
#pragma once

#include "base/config.h"

namespace tessera::wmma {

inline constexpr int kPortableArch = 80;  // HW: BF16 wmma exists from compute 8.0

struct Config {
  BlockTile block;   // k: depth of the tiles in shared memory
  OutputTile warps;  // per block

  constexpr int threads() const { return 32 * warps.m * warps.n; }
  constexpr int ctas_per_sm() const { return 2; }
  constexpr OutputTile warp() const { return {block.m / warps.m, block.n / warps.n}; }
};

constexpr bool is_legal(const Config& c) {
  return c.warp().m * c.warps.m == c.block.m && c.warp().m % 16 == 0 &&
         c.warp().n * c.warps.n == c.block.n && c.warp().n % 16 == 0 && c.block.k % 16 == 0 &&
         c.block.m * c.block.k % c.threads() == 0 && c.block.n * c.block.k % c.threads() == 0;
}

inline constexpr auto kConfigs = rows_of<Config>({{"128x128x32", {{128, 128, 32}, {4, 2}}}});

}  // namespace tessera::wmma
