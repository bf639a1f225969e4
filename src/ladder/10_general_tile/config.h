// Any block and thread tile whose vectors divide evenly among the threads.
#pragma once

#include "base/config.h"

namespace tessera::general_tile {

// How tiles are stored in shared memory, and how the threads read them.
enum class Staging {
  kTransposed,  // vectors, A as (k, m): both fragments are read as vectors
  kRowsOfA,     // vectors, A as (m, k): A's fragment is read word by word, block.k words apart
  kScalars,     // words, A as (m, k), no fragments: each product reads two words of shared memory
};

struct Config {
  BlockTile block;
  OutputTile thread;
  Staging staging = Staging::kTransposed;
  Majors majors = {};
  constexpr int threads_along_n() const { return block.n / thread.n; }
  constexpr int threads() const { return block.m / thread.m * threads_along_n(); }
  // TRIED: two CTAs per SM for kScalars, too: the loop then kept 15 words in local memory.
  constexpr int ctas_per_sm() const { return staging == Staging::kScalars ? 1 : 2; }
};

constexpr bool is_legal(Config c) {
  return c.thread.m % 4 == 0 && c.thread.n % 4 == 0 && c.block.m % c.thread.m == 0 &&
         c.block.n % c.thread.n == 0 && c.block.m * c.block.k % (4 * c.threads()) == 0 &&
         c.block.n * c.block.k % (4 * c.threads()) == 0 && c.threads() <= 1024;
}

inline constexpr auto kConfigs =
    for_all_majors<Config>({{"128x128x8", {{128, 128, 8}, {8, 8}}},
                            {"64x64x16", {{64, 64, 16}, {4, 4}}},
                            {"rows_of_a", {{128, 128, 8}, {8, 8}, Staging::kRowsOfA}},
                            {"scalars", {{128, 128, 8}, {8, 8}, Staging::kScalars}}});

}  // namespace tessera::general_tile
