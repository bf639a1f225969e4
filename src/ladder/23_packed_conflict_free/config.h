// FP64: packed blocks stand in shared memory as the lanes read them.
#pragma once

#include "base/config.h"

namespace tessera::packed_conflict_free {

struct Config {
  BlockTile block;
  constexpr int threads() const { return block.m * block.n; }
  constexpr int min_blocks() const { return 1; }
};

inline constexpr auto kRows = rows_of<Config>({{"8x8", {{8, 8, 8}}}});

}  // namespace tessera::packed_conflict_free
