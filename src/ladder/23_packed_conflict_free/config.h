// FP64: packed blocks stand in shared memory as the lanes read them.
#pragma once

#include "base/config.h"

namespace tessera::packed_conflict_free {

struct Config {
  BlockTile block;
  constexpr int threads() const { return block.m * block.n; }
  constexpr int ctas_per_sm() const { return 1; }
};

inline constexpr auto kConfigs = rows_of<Config>({{"8x8", {{8, 8, 8}}}});

}  // namespace tessera::packed_conflict_free
