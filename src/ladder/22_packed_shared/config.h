// FP64: packed square blocks are staged in shared memory, in the order in which they are packed.
#pragma once

#include "base/config.h"

namespace tessera::packed_shared {

struct Config {
  BlockTile block;          // m == n == k: also the edge of the packed blocks
  bool lanes_down = false;  // consecutive threads walk a column of the block of D
  constexpr int threads() const { return block.m * block.n; }
  constexpr int ctas_per_sm() const { return 1; }
};

inline constexpr auto kConfigs = rows_of<Config>({{"8x8", {{8, 8, 8}}},
                                                  {"4x4", {{4, 4, 4}}},
                                                  {"16x16", {{16, 16, 16}}},
                                                  {"32x32", {{32, 32, 32}}},
                                                  {"lanes_down", {{8, 8, 8}, true}}});

}  // namespace tessera::packed_shared
