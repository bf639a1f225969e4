// A square of 4x4 outputs per thread, in a block of 64x64.
#pragma once

#include "base/config.h"

namespace tessera::tile_4x4 {

struct Config {
  BlockTile block;
  Majors majors;
  static constexpr int kThread = 4;  // a thread computes kThread x kThread outputs
  constexpr int threads_along_n() const { return block.n / kThread; }
  constexpr int threads() const { return block.m / kThread * threads_along_n(); }
  constexpr int ctas_per_sm() const { return 2; }
};

constexpr bool is_legal(Config c) {
  return c.block.m % Config::kThread == 0 && c.block.n % Config::kThread == 0 &&
         c.block.m * c.block.k % (4 * c.threads()) == 0 &&
         c.block.n * c.block.k % (4 * c.threads()) == 0 && c.threads() <= 1024;
}

inline constexpr auto kConfigs = for_all_majors<Config>({{"64x64x16", {{64, 64, 16}, {}}}});

}  // namespace tessera::tile_4x4
