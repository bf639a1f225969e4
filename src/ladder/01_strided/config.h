// One thread per output; the lanes of a warp walk down a column of D.
#pragma once

#include "base/config.h"

namespace tessera::strided {

struct Config {
  BlockTile block;  // k is 1: nothing is staged
  constexpr int threads() const { return block.m * block.n; }
  constexpr int threads_y() const { return block.n; }
  constexpr int ctas_per_sm() const { return 1; }
};

inline constexpr auto kConfigs = rows_of<Config>({{"32x32", {{32, 32, 1}}}});

}  // namespace tessera::strided
