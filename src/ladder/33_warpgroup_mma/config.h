// Hopper's tensor cores, a warpgroup at a time: a block of 128 x 128 outputs, four warps.
#pragma once

#include "base/config.h"

namespace tessera::warpgroup_mma {

inline constexpr int kPortableArch = 0;  // wgmma: sm_90a only

struct Config {
  BlockTile block;  // k: depth of the tiles in shared memory

  constexpr int threads() const { return 128; }
  constexpr int ctas_per_sm() const { return 3; }
  constexpr int rows() const { return block.m; }  // of D, per warpgroup
  // Each tile is a multiple of 1024 bytes, the size of the swizzle's pattern.
  constexpr int shared_bytes() const { return block.k * (block.m + block.n) * 2; }
};

constexpr bool is_legal(const Config& c) {
  constexpr int kShared = 227 * 1024;  // HW: per block, compute capability 9.0
  return c.block.m % 64 == 0 && c.block.n % 64 == 0 && c.block.n <= 256 && c.block.k % 64 == 0 &&
         c.rows() * c.block.n / c.threads() <= 128 && c.ctas_per_sm() * c.shared_bytes() <= kShared;
}

inline constexpr auto kConfigs = rows_of<Config>({{"128x128x64", {{128, 128, 64}}}});

}  // namespace tessera::warpgroup_mma
