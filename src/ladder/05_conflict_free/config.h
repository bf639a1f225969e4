// Rung 04 with B's tile n-contiguous, the order in which the lanes read it.
#pragma once

#include "base/config.h"

namespace tessera::conflict_free {

struct Config {
  BlockTile block;   // a cube: each thread stages one element of each tile
  bool transpose_a;  // also transpose A's tile: that only moves the conflicts to A's store
  constexpr int threads() const { return block.m * block.n; }
  constexpr int ctas_per_sm() const { return 1; }
};

constexpr bool is_legal(Config c) {
  return c.block.m == c.block.n && c.block.n == c.block.k && c.threads() <= 1024;
}

inline constexpr auto kConfigs = rows_of<Config>(
    {{"32x32x32", {{32, 32, 32}, false}}, {"both_transposed", {{32, 32, 32}, true}}});

}  // namespace tessera::conflict_free
