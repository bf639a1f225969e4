// Rung 11 with the lanes of a warp arranged for conflict-free reads. Variants assign loads and
// stores to threads in other ways.
#pragma once

#include "base/config.h"
#include "kernels/tile/warp_tile.h"

namespace tessera::warp_tile {

enum class Fetch { kEveryThread, kHalfEach };  // kHalfEach: half the threads fetch A, half fetch B
enum class Output { kDirect, kStaged };        // kStaged: via shared memory, in whole rows

struct Config {
  BlockTile block;
  tile::WarpTile warp;
  Fetch fetch;
  Output output;
  Majors majors;
  static constexpr int kThread = 8;  // a thread computes 8 x 8 outputs, as four subtiles
  constexpr int threads() const { return block.m / kThread * (block.n / kThread); }
  constexpr int fetchers() const {
    return fetch == Fetch::kEveryThread ? threads() : threads() / 2;
  }
  constexpr int ctas_per_sm() const { return 2; }
};

constexpr bool is_legal(Config c) {
  // The staged output needs a thread's subtiles to be block.m / 2 rows apart.
  const bool output_fits = c.output == Output::kDirect || c.warp.distance.m == c.block.m / 2;
  return is_legal(c.warp) && output_fits && c.block.m == 2 * tile::kPatch.m * c.warp.warps.m &&
         c.block.n == 2 * tile::kPatch.n * c.warp.warps.n && c.block.k % 2 == 0 &&
         c.block.m * c.block.k % (4 * c.fetchers()) == 0 &&
         c.block.n * c.block.k % (4 * c.fetchers()) == 0 && c.threads() <= 1024;
}

// WHY spills are allowed here: ptxas spills up to three registers in the main loop. The rung was
// measured with these spills; later rungs have none.
inline constexpr int kSpills = 3;

inline constexpr BlockTile kBlock{128, 128, 8};
inline constexpr tile::WarpTile kSpread{{2, 4}, {64, 64}};
inline constexpr tile::WarpTile kCompact{{2, 4}, {32, 16}};

inline constexpr auto kConfigs = for_all_majors<Config>(
    {{"128x128x8", {kBlock, kSpread, Fetch::kEveryThread, Output::kDirect, {}}},
     {"compact", {kBlock, kCompact, Fetch::kEveryThread, Output::kDirect, {}}},
     {"half_each", {kBlock, kSpread, Fetch::kHalfEach, Output::kDirect, {}}},
     {"staged", {kBlock, kSpread, Fetch::kEveryThread, Output::kStaged, {}}}});

}  // namespace tessera::warp_tile
