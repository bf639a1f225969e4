// Rung 06 with 128-bit global access. From this rung on, the contiguous index of each operand is a
// template argument.
#pragma once

#include "base/config.h"

namespace tessera::vector_access {

struct Config {
  BlockTile block;  // a thread stages one vector of each tile and computes a vector of 4 outputs
  Majors majors;
  constexpr int threads_along_n() const { return block.n / 4; }
  constexpr int threads() const { return block.m * threads_along_n(); }
  constexpr int ctas_per_sm() const { return 1; }
};

constexpr bool is_legal(Config c) {
  return c.block.m == c.block.n && c.block.n == c.block.k && c.threads() <= 1024;
}

inline constexpr auto kConfigs = for_all_majors<Config>({{"32x32x32", {{32, 32, 32}, {}}}});

}  // namespace tessera::vector_access
