// A square tile of A and B in shared memory; one thread per output.
#pragma once

#include "base/config.h"

namespace tessera::shared_tile {

struct Config {
  BlockTile block;  // a cube: each thread stages one element of each tile
  constexpr int threads() const { return block.m * block.n; }
  constexpr int threads_y() const { return block.m; }
  constexpr int ctas_per_sm() const { return 1; }
};

constexpr bool is_legal(Config c) {
  return c.block.m == c.block.n && c.block.n == c.block.k && c.threads() <= 1024;
}

inline constexpr auto kConfigs =
    rows_of<Config>({{"32x32x32", {{32, 32, 32}}}, {"16x16x16", {{16, 16, 16}}}});

}  // namespace tessera::shared_tile
