// Small tiles: who has which output, and that lanes which load together meet in no bank.
#include "kernels/tile/small_lanes.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <utility>

#include "kernels/families/small/config.h"
#include "kernels/tile/mma_lanes.h"
#include "kernels/tile/padded_tile.h"

namespace tessera::tile {
namespace {

constexpr OutputTile kLanes = small::Config::kLanes;

template <int m, int n, bool rows_apart>
void expect_each_output_once() {
  using Rows = SmallPlaces<m, kLanes.m, rows_apart>;
  using Columns = SmallPlaces<n, kLanes.n, false>;
  std::map<std::pair<int, int>, int> times;
  for (int lane = 0; lane < 32; ++lane) {
    const Coord<> at = small_lane(lane);
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < n; ++j) {
        ++times[{Rows::first(at.m) + Rows::offset(i), Columns::first(at.n) + Columns::offset(j)}];
      }
    }
  }
  EXPECT_EQ(times.size(), 32u * m * n);
  for (const auto& [at, count] : times) {
    EXPECT_EQ(count, 1);
    EXPECT_LT(at.first, kLanes.m * m);
    EXPECT_LT(at.second, kLanes.n * n);
  }
}

TEST(SmallLanes, EachOutputBelongsToOneLane) {
  expect_each_output_once<2, 4, false>();
  expect_each_output_once<2, 4, true>();
  expect_each_output_once<4, 8, false>();
  expect_each_output_once<4, 8, true>();
}

TEST(SmallLanes, NeighboursShareOneOperand) {
  for (int lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(small_lane(lane).m, small_lane(lane ^ 1).m);
    EXPECT_NE(small_lane(lane).n, small_lane(lane ^ 1).n);
    EXPECT_EQ(small_lane(lane).n, small_lane(lane ^ 2).n);
    EXPECT_NE(small_lane(lane).m, small_lane(lane ^ 2).m);
  }
}

// Sixteen bytes each, from eight places: all 32 banks once.
template <class Tile, class Place>
void expect_all_banks(Place place) {
  std::set<int> chunks;
  for (int i = 0; i < 8; ++i) {
    const int byte = place(i) * static_cast<int>(sizeof(typename Tile::Element));
    EXPECT_EQ(byte % 16, 0);
    chunks.insert(byte / 16 % 8);
  }
  EXPECT_EQ(chunks.size(), 8u);
}

template <class Tile>
void expect_rows_apart() {
  using Rows = SmallPlaces<4, kLanes.m, true>;
  expect_all_banks<Tile>([](int lane) { return Tile::place(Rows::first(lane), 0); });
}

TEST(SmallLanes, RowsAlongKMeetInNoBank) {
  expect_rows_apart<PaddedTile<float, 16, 16, true>>();
  expect_rows_apart<PaddedTile<float, 32, 32, true>>();
  expect_rows_apart<PaddedTile<float, 64, 16, true>>();
}

// The rows of each 8x8 matrix that ldmatrix loads.
template <class Tile, MmaOperand operand = MmaOperand::kA>
void expect_matrices() {
  using Loads = MmaLoads<Tile, operand>;
  for (int matrix = 0; matrix < 4; ++matrix) {
    expect_all_banks<Tile>([&](int row) {
      const int lane = 8 * matrix + row;
      return Tile::place(Loads::outer(lane), Loads::k(lane));
    });
  }
}

TEST(SmallLanes, RowsOfAMatrixMeetInNoBank) {
  expect_matrices<PaddedTile<std::uint16_t, 16, 16, true>>();
  expect_matrices<PaddedTile<std::uint16_t, 16, 16, false>>();
  expect_matrices<PaddedTile<std::uint16_t, 32, 32, true>>();
  expect_matrices<PaddedTile<std::uint16_t, 32, 32, false>>();
  expect_matrices<PaddedTile<std::uint16_t, 32, 32, true>, MmaOperand::kB>();
  expect_matrices<PaddedTile<std::uint16_t, 32, 32, false>, MmaOperand::kB>();
}

TEST(SmallLanes, ElementsOfATileHavePlacesOfTheirOwn) {
  using Across = PaddedTile<float, 32, 16, false>;
  std::set<int> places;
  for (int outer = 0; outer < 32; ++outer) {
    for (int k = 0; k < 16; ++k) places.insert(Across::place(outer, k));
  }
  EXPECT_EQ(places.size(), 32u * 16);
  EXPECT_LT(*places.rbegin(), static_cast<int>(sizeof(Across) / sizeof(float)));
}

}  // namespace
}  // namespace tessera::tile
