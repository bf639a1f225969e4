// Rung 06 with 128-bit global access. The contiguous side of each operand is compiled in from here
// on.
#pragma once

#include "base/config.h"

namespace tessera::vector_access {

struct Config {
  BlockTile block;  // a thread stages one strip of each tile and computes a strip of 4 outputs
  Sides sides;
  constexpr int threads_along_n() const { return block.n / 4; }
  constexpr int threads() const { return block.m * threads_along_n(); }
  constexpr int min_blocks() const { return 1; }
};

constexpr bool is_legal(Config c) {
  return c.block.m == c.block.n && c.block.n == c.block.k && c.threads() <= 1024;
}

inline constexpr auto kRows = for_all_sides<Config>({{"32x32x32", {{32, 32, 32}, {}}}});

}  // namespace tessera::vector_access
