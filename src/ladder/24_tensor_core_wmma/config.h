// FP64 tensor cores through the WMMA API: one warp computes one 8x8 tile.
#pragma once

#include "problem/config.h"

namespace tessera::tensor_core_wmma {

struct Config {
  BlockTile block;
  constexpr int threads() const { return 32; }
  constexpr int min_blocks() const { return 1; }
};

inline constexpr auto kRows = rows_of<Config>({{"8x8", {{8, 8, 8}}}});

}  // namespace tessera::tensor_core_wmma
