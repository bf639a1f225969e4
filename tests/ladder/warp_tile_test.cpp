// The lane map of rung 12, held to its published form and to what it is for.
#include "kernels/tile/warp_tile.h"

#include <gtest/gtest.h>

#include <set>

#include "ladder/12_warp_tile/config.h"

namespace tessera {
namespace {

TEST(WarpTile, EqualsThePublishedMapForAllThreads) {
  for (int tid = 0; tid < 256; ++tid) {
    const tile::Coord<> at = tile::subtile_origin(warp_tile::kSpread, tid);
    EXPECT_EQ(at.n, ((tid >> 4 & 7) << 1 | (tid & 1)) * 4) << tid;
    EXPECT_EQ(at.m, ((tid & 128) >> 4 | (tid >> 1 & 7)) * 4) << tid;
  }
}

// Every output of the block belongs to exactly one thread, whatever the quarters' distance.
void expect_bijection(tile::WarpTile warp) {
  std::set<std::pair<int, int>> seen;
  for (int tid = 0; tid < 256; ++tid) {
    const tile::Coord<> at = tile::subtile_origin(warp, tid);
    for (int i = 0; i < 8; ++i) {
      for (int j = 0; j < 8; ++j) {
        const int row = at.m + tile::offset_of(i, warp.distance.m);
        const int col = at.n + tile::offset_of(j, warp.distance.n);
        EXPECT_TRUE(row < 128 && col < 128);
        EXPECT_TRUE(seen.emplace(row, col).second) << row << ", " << col;
      }
    }
  }
  EXPECT_EQ(seen.size(), 128u * 128u);
}

TEST(WarpTile, CoversTheBlockOnceWhenSpread) { expect_bijection(warp_tile::kSpread); }
TEST(WarpTile, CoversTheBlockOnceWhenCompact) { expect_bijection(warp_tile::kCompact); }

// A quarter-warp of a 128-bit load may touch a bank with one word only: no excess wavefronts.
TEST(WarpTile, ReadsWithoutExcessWavefronts) {
  for (int first = 0; first < 256; first += 8) {
    std::set<int> rows, cols, row_banks, col_banks;
    for (int tid = first; tid < first + 8; ++tid) {
      const tile::Coord<> at = tile::subtile_origin(warp_tile::kSpread, tid);
      rows.insert(at.m);
      cols.insert(at.n);
      row_banks.insert(at.m % 32);
      col_banks.insert(at.n % 32);
    }
    EXPECT_EQ(rows.size(), row_banks.size());
    EXPECT_EQ(cols.size(), col_banks.size());
  }
}

TEST(WarpTile, RefusesDistancesThatLeaveHoles) {
  EXPECT_TRUE(is_legal(warp_tile::kSpread));
  EXPECT_FALSE(tile::is_legal({{2, 4}, {64, 32}}));
  EXPECT_FALSE(tile::is_legal({{4, 4}, {64, 64}}));
}

}  // namespace
}  // namespace tessera
