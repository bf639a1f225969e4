// One thread an output; the lanes of a warp go down a column.
#pragma once

#include "base/config.h"

namespace tessera::strided {

struct Config {
  BlockTile block;  // k is 1: nothing is staged
  constexpr int threads() const { return block.m * block.n; }
  constexpr int threads_y() const { return block.n; }
  constexpr int min_blocks() const { return 1; }
};

inline constexpr auto kRows = rows_of<Config>({{"32x32", {{32, 32, 1}}}});

}  // namespace tessera::strided
