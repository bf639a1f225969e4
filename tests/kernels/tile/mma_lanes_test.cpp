// The maps of the kernels on mma.sync: shared tiles that lie either way, what threads copy into
// them in pieces of any width, and what lanes load from them. Each element has one place; copies
// and loads meet in no bank.
#include "kernels/tile/mma_lanes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>

#include "kernels/families/mma/config.h"

namespace tessera::tile {
namespace {

// The tiles of the kernels, and how many threads copy each.
template <class F>
void for_each_tile(F f) {
  f.template operator()<EitherTile<std::uint16_t, 128, 64>, 256>();
  f.template operator()<EitherTile<std::uint16_t, 128, 64>, 128>();
  f.template operator()<EitherTile<std::uint16_t, 64, 64>, 128>();
  f.template operator()<EitherTile<float, 128, 32>, 256>();
  f.template operator()<EitherTile<float, 128, 32>, 128>();
  f.template operator()<EitherTile<float, 64, 32>, 128>();
}

TEST(EitherTile, TheTilesOfTheConfigsAreThese) {
  const auto is_tested = [](const mma::Config& config) {
    bool found = false;
    for_each_tile([&]<class Tile, int threads>() {
      found |= Tile::kOuter == config.block.m && Tile::kK == config.block.k &&
               threads == config.threads() && config.block.m == config.block.n;
    });
    return found;
  };
  for (const auto& [variant, config] : mma::kBf16) EXPECT_TRUE(is_tested(config));
  for (const auto& [variant, config] : mma::kTf32) EXPECT_TRUE(is_tested(config));
}

TEST(EitherTile, GivesEachElementAPlace) {
  for_each_tile([]<class Tile, int threads>() {
    for (const bool along_k : {false, true}) {
      std::set<int> places;
      for (int outer = 0; outer < Tile::kOuter; ++outer) {
        for (int k = 0; k < Tile::kK; ++k) places.insert(Tile::offset(along_k, outer, k));
      }
      const int bytes = sizeof(typename Tile::Element);
      EXPECT_EQ(places.size(), std::size_t{Tile::kOuter} * Tile::kK);
      EXPECT_EQ(*places.rbegin(), static_cast<int>(sizeof(Tile)) - bytes);
    }
  });
}

// Bytes that lanes access together, and so must be in banks of their own: 128 of them, or all.
void expect_bank_free(const std::set<int>& places, int bytes, int lanes) {
  std::set<int> banks;
  for (const int place : places) banks.insert(place % 128 / bytes);
  EXPECT_EQ(static_cast<int>(banks.size()), lanes);
}

template <class Tile, int threads>
void expect_right_copies(bool along_k, int log2_width) {
  const EitherCopyMap<Tile, threads> map{along_k, log2_width};
  const int bytes = static_cast<int>(sizeof(typename Tile::Element)) << log2_width;
  const int together = bytes >= 4 ? 128 / bytes : 32;  // threads
  EXPECT_EQ(map.count() % 4, 0) << "four pieces at a time";
  std::set<int> seen;
  for (int i = 0; i < map.count(); ++i) {
    std::set<int> places;
    for (int t = 0; t < threads; ++t) {
      const int outer = map.outer(t) + (along_k ? i * map.lines() : 0);
      const int k = map.k(t) + (along_k ? 0 : i * map.lines());
      const int place = map.place(Tile::offset(along_k, map.outer(t), map.k(t)), i);
      EXPECT_EQ(place, Tile::offset(along_k, outer, k));
      seen.insert(place);
      places.insert(place);
      if ((t + 1) % together != 0) continue;
      // HW: two halves of a word are no conflict.
      expect_bank_free(places, std::max(bytes, 4), together * bytes / std::max(bytes, 4));
      places.clear();
    }
  }
  EXPECT_EQ(seen.size() << log2_width, std::size_t{Tile::kOuter} * Tile::kK);
  // Whole patterns of the swizzle apart, and lines whose addresses differ by multiples of 16 bytes:
  // what is shifted out of aligned pieces relies on it.
  if (sizeof(typename Tile::Element) == 2 && 1 << log2_width == Tile::kChunk) {
    EXPECT_EQ(map.lines() % 8, 0);
    EXPECT_EQ(map.place(0, 1), map.lines() * Tile::AlongK::kRowBytes);
  }
  EXPECT_EQ(along_k ? map.k(1) : map.outer(1), map.width()) << "neighbours read neighbours";
}

TEST(EitherCopyMap, CopiesEachElementOnceWithoutConflicts) {
  for_each_tile([]<class Tile, int threads>() {
    for (const bool along_k : {false, true}) {
      for (int log2 = 0; 1 << log2 <= Tile::kChunk; ++log2) {
        expect_right_copies<Tile, threads>(along_k, log2);
      }
    }
  });
}

// The element of x[which], its lower half of two, that the instructions want: ptx/mma.h.
struct Element {
  int outer, k;
};
Element wanted(MmaOperand operand, int lane, int which, int bytes) {
  const bool is_a = operand == MmaOperand::kA;
  const int eight = is_a ? which % 2 : which / 2, half = is_a ? which / 2 : which % 2;
  return {lane / 4 + eight * 8, lane % 4 * (4 / bytes) + half * (16 / bytes)};
}

// ldmatrix gives lane l, of matrix `which`, 4 bytes from l % 4 * 4 on of row l / 4; transposed: two
// elements of column l / 4, from row l % 4 * 2 on. Lane 8 * which + r says where row r begins.
template <class Tile, MmaOperand operand>
int loaded_from(int lane, int which, int first_outer, int i, int step) {
  using Loads = MmaLoads<Tile, operand>;
  const auto at = [&](int by_lane) {
    return Loads::offset(Loads::lane_offset(by_lane, first_outer), i, step);
  };
  if (!Loads::kByMatrix) return Loads::word(at(lane), which);
  if (!Loads::kTransposed) return at(8 * which + lane / 4) + lane % 4 * 4;
  return at(8 * which + lane % 4 * 2) + lane / 4 * 2;
}

template <class Tile, MmaOperand operand>
void expect_right_loads(int warp_outer) {
  using Loads = MmaLoads<Tile, operand>;
  for (int first = 0; first < Tile::kOuter; first += warp_outer) {
    for (int i = 0; i < warp_outer / kMmaOuter; ++i) {
      for (int step = 0; step < Tile::kK / Loads::kDepth; ++step) {
        for (int which = 0; which < 4; ++which) {
          std::set<int> places;
          for (int lane = 0; lane < 32; ++lane) {
            const Element e = wanted(operand, lane, which, Loads::kBytes);
            const int outer = first + i * kMmaOuter + e.outer, k = step * Loads::kDepth + e.k;
            const int from = loaded_from<Tile, operand>(lane, which, first, i, step);
            EXPECT_EQ(from, Tile::offset(outer, k));
            places.insert(from);
          }
          if (!Loads::kTransposed) expect_bank_free(places, 4, 32);
        }
      }
    }
  }
}

TEST(MmaLoads, BringTheElementsOfTheLane) {
  for_each_tile([]<class Tile, int threads>() {
    for (const int warp_outer : {32, 64}) {
      expect_right_loads<typename Tile::AlongK, MmaOperand::kA>(warp_outer);
      expect_right_loads<typename Tile::AlongOuter, MmaOperand::kA>(warp_outer);
      expect_right_loads<typename Tile::AlongK, MmaOperand::kB>(warp_outer);
      expect_right_loads<typename Tile::AlongOuter, MmaOperand::kB>(warp_outer);
    }
  });
}

// HW: ldmatrix reads the eight rows of a matrix, 128 bytes, together.
TEST(MmaLoads, RowsOfAMatrixMeetInNoBank) {
  for_each_tile([]<class Tile, int threads>() {
    for (const bool along_k : {false, true}) {
      if (!along_k && sizeof(typename Tile::Element) == 4) continue;  // without ldmatrix: above
      for (int matrix = 0; matrix < 4; ++matrix) {
        std::set<int> places;
        for (int row = 0; row < 8; ++row) {
          const int at = mma_lane_offset<Tile, MmaOperand::kB>(along_k, 8 * matrix + row, 0);
          EXPECT_EQ(at % 16, 0);
          places.insert(at);
        }
        expect_bank_free(places, 16, 8);
      }
    }
  });
}

}  // namespace
}  // namespace tessera::tile
