// FP64 tensor cores through the WMMA API: one warp computes one 8x8 tile.
#pragma once

#include "base/config.h"

namespace tessera::tensor_core_wmma {

inline constexpr int kPortableArch = 80;  // HW: FP64 wmma exists from compute 8.0

struct Config {
  BlockTile block;
  bool staged = false;  // both blocks of a step are copied to shared memory first
  constexpr int threads() const { return 32; }
  constexpr int ctas_per_sm() const { return 1; }
};

inline constexpr auto kConfigs =
    rows_of<Config>({{"8x8", {{8, 8, 8}}}, {"staged", {{8, 8, 8}, true}}});

}  // namespace tessera::tensor_core_wmma
