// A thread computes a vector of 4 outputs (or 2 x 2), so that a loaded value feeds several FMAs.
#pragma once

#include "base/config.h"

namespace tessera::four_outputs {

struct Config {
  BlockTile block;    // a cube: a thread stages as many elements per tile as it computes outputs
  OutputTile thread;  // outputs of one thread
  constexpr int threads_along_n() const { return block.n / thread.n; }
  constexpr int threads() const { return block.m / thread.m * threads_along_n(); }
  constexpr int ctas_per_sm() const { return 1; }
};

constexpr bool is_legal(Config c) {
  return c.block.m == c.block.n && c.block.n == c.block.k && c.block.m % c.thread.m == 0 &&
         c.block.n % c.thread.n == 0 && c.threads() <= 1024;
}

inline constexpr auto kConfigs =
    rows_of<Config>({{"32x32x32", {{32, 32, 32}, {1, 4}}}, {"2x2", {{32, 32, 32}, {2, 2}}}});

}  // namespace tessera::four_outputs
