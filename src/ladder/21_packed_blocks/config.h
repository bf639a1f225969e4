// FP64: packed 8x8 blocks, one thread an output, blocks read straight from global memory.
#pragma once

#include "base/config.h"

namespace tessera::packed_blocks {

struct Config {
  BlockTile block;
  bool turn_b;  // B's block columns contiguous, and blocks turned inside
  constexpr int threads() const { return block.m * block.n; }
  constexpr int min_blocks() const { return 1; }
};

inline constexpr auto kRows =
    rows_of<Config>({{"8x8", {{8, 8, 8}, false}}, {"b_turned", {{8, 8, 8}, true}}});

}  // namespace tessera::packed_blocks
