// Rung 03 with a one-dimensional block.
#pragma once

#include "base/config.h"

namespace tessera::flat_index {

struct Config {
  BlockTile block;  // a cube: each thread stages one element of each tile
  constexpr int threads() const { return block.m * block.n; }
  constexpr int ctas_per_sm() const { return 1; }
};

constexpr bool is_legal(Config c) {
  return c.block.m == c.block.n && c.block.n == c.block.k && c.threads() <= 1024;
}

inline constexpr auto kConfigs = rows_of<Config>({{"32x32x32", {{32, 32, 32}}}});

}  // namespace tessera::flat_index
