// FP64: packed square blocks, one thread per output, blocks read directly from global memory.
#pragma once

#include "base/config.h"

namespace tessera::packed_blocks {

struct Config {
  BlockTile block;           // m == n == k: also the edge of the packed blocks
  bool transpose_b = false;  // a column of B's blocks is contiguous, and each block is transposed
  bool lanes_down = false;   // consecutive threads walk a column of the block of D
  constexpr int threads() const { return block.m * block.n; }
  constexpr int ctas_per_sm() const { return 1; }
};

inline constexpr auto kConfigs = rows_of<Config>({{"8x8", {{8, 8, 8}}},
                                                  {"b_transposed", {{8, 8, 8}, true}},
                                                  {"4x4", {{4, 4, 4}}},
                                                  {"16x16", {{16, 16, 16}}},
                                                  {"32x32", {{32, 32, 32}}},
                                                  {"lanes_down", {{8, 8, 8}, false, true}},
                                                  {"lanes_down_bt", {{8, 8, 8}, true, true}}});

}  // namespace tessera::packed_blocks
