// The order in which a persistent grid processes the output tiles. Tiles that run at the same time
// should share rows of A and columns of B in L2, so the order is compact: groups of a few tiles
// along one side, group by group. Pure constexpr: the host tests that each tile occurs once.
#pragma once

#include "kernels/tile/coord.h"

namespace tessera::schedule {

struct Raster {
  int tiles_m, tiles_n;  // the output's extents in tiles
  int group;             // the width of a group in tiles
  int along_m;           // 1: a group is a few tiles wide in m and goes along n; 0: vice versa

  constexpr int tiles() const { return tiles_m * tiles_n; }

  constexpr tile::Coord<> operator[](int index) const {
    const int side = along_m ? tiles_m : tiles_n, length = along_m ? tiles_n : tiles_m;
    const int first = index / (group * length) * group;
    const int width = side - first < group ? side - first : group;
    const int in_group = index - first * length;
    const int across = first + in_group % width, along = in_group / width;
    return along_m ? tile::Coord<>{across, along} : tile::Coord<>{along, across};
  }
};

// Returns a tile for a grid with one CTA per tile and any number of tiles. Groups are eight tile
// rows, and are processed column by column.
constexpr tile::Coord<long long> grouped_tile(long long tile, long long tiles_m,
                                              long long tiles_n) {
  constexpr int kGroup = 8;
  const long long tiles_per_group = kGroup * tiles_n;
  const long long first = tile / tiles_per_group * kGroup, in_group = tile % tiles_per_group;
  const int rows = tiles_m - first < kGroup ? static_cast<int>(tiles_m - first) : kGroup;
  return {first + in_group % rows, in_group / rows};
}

}  // namespace tessera::schedule
