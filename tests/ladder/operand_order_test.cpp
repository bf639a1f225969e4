// The orders of rung 14: each visits all outputs once, and reads as few operands afresh as its
// README says.
#include "ladder/14_operand_order/order.h"

#include <gtest/gtest.h>

#include <set>

#include "kernels/tile/lanes.h"
#include "ladder/14_operand_order/config.h"

namespace tessera::operand_order {
namespace {

constexpr OutputTile kSize = ladder::k256x128x16.thread;  // 16 x 8
constexpr int kCount = kSize.m * kSize.n;

struct Fresh {
  int a, b, both;
};

// Operands that differ from those of the output before; the first output reads both.
Fresh fresh_reads(Order order) {
  Fresh fresh{1, 1, 1};
  for (int t = 1; t < kCount; ++t) {
    const OutputTile before = output_at(order, kSize, t - 1), now = output_at(order, kSize, t);
    const bool a = now.m != before.m, b = now.n != before.n;
    fresh.a += a;
    fresh.b += b;
    fresh.both += a && b;
  }
  return fresh;
}

TEST(OperandOrder, VisitsEveryOutputOnce) {
  for (const Order order : {Order::kRows, Order::kSerpentine, Order::kBlocks}) {
    std::set<std::pair<int, int>> seen;
    for (int t = 0; t < kCount; ++t) {
      const OutputTile at = output_at(order, kSize, t);
      EXPECT_TRUE(at.m >= 0 && at.m < kSize.m && at.n >= 0 && at.n < kSize.n) << t;
      EXPECT_TRUE(seen.emplace(at.m, at.n).second) << t;
    }
  }
}

TEST(OperandOrder, ReadsAsFewOperandsAsItsPageSays) {
  const Fresh rows = fresh_reads(Order::kRows);
  EXPECT_EQ(rows.a, 16);
  EXPECT_EQ(rows.b, 128);
  EXPECT_EQ(rows.both, 16);
  const Fresh serpentine = fresh_reads(Order::kSerpentine);
  EXPECT_EQ(serpentine.a, 16);
  EXPECT_EQ(serpentine.b, 113);
  EXPECT_EQ(serpentine.both, 1);  // the first
  const Fresh blocks = fresh_reads(Order::kBlocks);
  EXPECT_EQ(blocks.a, 72);
  EXPECT_EQ(blocks.b, 57);
  EXPECT_EQ(blocks.both, 1);
}

TEST(OperandOrder, BlocksAreTwoByTwo) {
  for (int t = 0; t < kCount; t += 4) {
    const OutputTile first = output_at(Order::kBlocks, kSize, t);
    for (int step = 1; step < 4; ++step) {
      const OutputTile at = output_at(Order::kBlocks, kSize, t + step);
      EXPECT_EQ(at.m / 2, first.m / 2) << t;
      EXPECT_EQ(at.n / 2, first.n / 2) << t;
    }
  }
}

// What rungs 13 and 14 read shared memory by.
TEST(Lanes, CoverTheBlockOnceAndNeverPairUp) {
  constexpr ladder::AsyncTile tile = ladder::k256x128x16;
  std::set<std::pair<int, int>> seen;
  for (int lane = 0; lane < 32; ++lane) {
    const tile::Coord<> place = tile::lane_coord(tile.lanes, lane);
    EXPECT_TRUE(seen.emplace(place.m, place.n).second) << lane;
  }
  EXPECT_EQ(seen.size(), 32u);
  for (const int bit : {1, 2}) {
    int same_m = 0, same_n = 0;
    for (int lane = 0; lane < 32; ++lane) {
      const tile::Coord<> one = tile::lane_coord(tile.lanes, lane);
      const tile::Coord<> other = tile::lane_coord(tile.lanes, lane ^ bit);
      same_m += one.m == other.m;
      same_n += one.n == other.n;
    }
    EXPECT_LT(same_m, 32) << bit;
    EXPECT_LT(same_n, 32) << bit;
  }
}

}  // namespace
}  // namespace tessera::operand_order
