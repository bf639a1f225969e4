// FP64: packed 8x8 blocks, one thread an output, blocks read straight from global memory.
#pragma once

#include "base/config.h"

namespace tessera::packed_blocks {

struct Config {
  BlockTile block;
  bool transpose_b;  // B's block columns contiguous, and blocks transposed inside
  constexpr int threads() const { return block.m * block.n; }
  constexpr int ctas_per_sm() const { return 1; }
};

inline constexpr auto kConfigs =
    rows_of<Config>({{"8x8", {{8, 8, 8}, false}}, {"b_transposed", {{8, 8, 8}, true}}});

}  // namespace tessera::packed_blocks
