// Rung 10 with two shared stages and two sets of fragments.
#pragma once

#include "base/config.h"

namespace tessera::double_buffer {

struct Config {
  BlockTile block;
  OutputTile thread;
  Majors majors;
  static constexpr int kStages = 2;
  constexpr int threads_along_n() const { return block.n / thread.n; }
  constexpr int threads() const { return block.m / thread.m * threads_along_n(); }
  constexpr int ctas_per_sm() const { return 2; }
};

constexpr bool is_legal(Config c) {
  return c.thread.m % 4 == 0 && c.thread.n % 4 == 0 && c.block.m % c.thread.m == 0 &&
         c.block.n % c.thread.n == 0 && c.block.k % 2 == 0 &&
         c.block.m * c.block.k % (4 * c.threads()) == 0 &&
         c.block.n * c.block.k % (4 * c.threads()) == 0 && c.threads() <= 1024;
}

inline constexpr auto kConfigs =
    for_all_majors<Config>({{"128x128x8", {{128, 128, 8}, {8, 8}, {}}}});

}  // namespace tessera::double_buffer
