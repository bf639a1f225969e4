// The order in which a persistent grid walks the output tiles. Neighbours in time share rows of A
// and columns of B in the L2, so the walk is compact: groups of a few tiles along one side, walked
// across before the next group begins. Pure constexpr: the host tests that each tile comes once.
#pragma once

#include "kernels/tile/coord.h"

namespace tessera::schedule {

struct Raster {
  int tiles_m, tiles_n;  // of the output
  int group;             // tiles side by side in a group
  int along_m;           // 1: groups are tiles of m, walked along n; 0: the other way round

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

// The same for a grid of one CTA for each tile, of any number of tiles. Groups of eight tile rows
// are walked down each column of tiles first.
constexpr tile::Coord<long long> grouped_tile(long long tile, long long tiles_m,
                                              long long tiles_n) {
  constexpr int kGroup = 8;
  const long long tiles_per_group = kGroup * tiles_n;
  const long long first = tile / tiles_per_group * kGroup, in_group = tile % tiles_per_group;
  const int rows = tiles_m - first < kGroup ? static_cast<int>(tiles_m - first) : kGroup;
  return {first + in_group % rows, in_group / rows};
}

}  // namespace tessera::schedule
