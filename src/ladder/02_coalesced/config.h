// One thread per output; the lanes of a warp walk along a row of D.
#pragma once

#include "base/config.h"

namespace tessera::coalesced {

struct Config {
  BlockTile block;  // k is 1: nothing is staged
  constexpr int threads() const { return block.m * block.n; }
  constexpr int threads_y() const { return block.m; }
  constexpr int ctas_per_sm() const { return 1; }
};

inline constexpr auto kConfigs =
    rows_of<Config>({{"32x32", {{32, 32, 1}}}, {"16x16", {{16, 16, 1}}}});

}  // namespace tessera::coalesced
