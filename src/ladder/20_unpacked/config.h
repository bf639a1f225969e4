// FP64: one thread per output. A and B are read directly, without packed copies.
#pragma once

#include "base/config.h"

namespace tessera::unpacked {

struct Config {
  BlockTile block;  // k is 1: nothing is staged
  constexpr int threads() const { return block.m * block.n; }
  constexpr int ctas_per_sm() const { return 1; }
};

inline constexpr auto kConfigs = rows_of<Config>({{"8x8", {{8, 8, 1}}},
                                                  {"4x4", {{4, 4, 1}}},
                                                  {"16x16", {{16, 16, 1}}},
                                                  {"32x32", {{32, 32, 1}}}});

}  // namespace tessera::unpacked
