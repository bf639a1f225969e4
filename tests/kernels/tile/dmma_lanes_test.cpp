// The maps of the FP64 tensor-core kernels: swizzled tiles, what threads copy into them, and what
// lanes load from them. Each element has one place; copies and loads meet in no bank.
#include "kernels/tile/dmma_lanes.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "kernels/tile/swizzled_copy_map.h"

namespace tessera::tile {
namespace {

// The tiles of the kernels, each along k and along the other index.
template <class F>
void for_each_tile(F f) {
  f(SwizzledTile<double, 128, 16, Major::kK>{}), f(SwizzledTile<double, 128, 16, Major::kM>{});
  f(SwizzledTile<double, 64, 16, Major::kK>{}), f(SwizzledTile<double, 64, 16, Major::kN>{});
  f(SwizzledTile<double, 32, 16, Major::kK>{}), f(SwizzledTile<double, 32, 16, Major::kN>{});
  f(SwizzledTile<double, 16, 16, Major::kK>{}), f(SwizzledTile<double, 16, 16, Major::kM>{});
  f(SwizzledTile<double, 64, 32, Major::kK>{}), f(SwizzledTile<double, 64, 32, Major::kM>{});
}

TEST(SwizzledTile, GivesEachElementAPlace) {
  for_each_tile([]<class Tile>(const Tile&) {
    std::set<int> places;
    for (int outer = 0; outer < Tile::kOuter; ++outer) {
      for (int k = 0; k < Tile::kK; ++k) places.insert(Tile::offset(outer, k));
    }
    EXPECT_EQ(places.size(), std::size_t{Tile::kOuter} * Tile::kK);
    EXPECT_TRUE(*places.begin() == 0 && *places.rbegin() == Tile::kBytes - 8);
  });
}

// Bytes that lanes access together, and so must be in banks of their own: 128.
void expect_bank_free(const std::set<int>& places, int bytes) {
  std::set<int> banks;
  for (const int place : places) banks.insert(place % 128 / bytes);
  EXPECT_EQ(banks.size(), std::size_t{128} / bytes);
}

TEST(DmmaLoads, BringTheElementsOfTheLane) {
  for_each_tile([]<class Tile>(const Tile&) {
    for (int lane = 0; lane < 32; ++lane) {
      for (int first = 0; first < Tile::kOuter; first += kDmmaOuter) {
        const int at = DmmaLoads<Tile>::lane_offset(lane, first);
        for (int i = 0; first + i * kDmmaOuter < Tile::kOuter; ++i) {
          for (int eight = 0; eight < Tile::kK / 8; ++eight) {
            for (int which = 0; which < 2; ++which) {
              const int offset = DmmaLoads<Tile>::offset(at, i, which, eight);
              const int outer = first + i * kDmmaOuter, k = 2 * eight;
              const int half = Tile::kAlongK ? which : 0, step = Tile::kAlongK ? 0 : which;
              EXPECT_EQ(offset,
                        Tile::offset(outer + dmma_outer(lane, half), dmma_k(lane, k + step)));
              EXPECT_EQ(offset + 8, Tile::offset(outer + dmma_outer(lane, Tile::kAlongK ? half : 1),
                                                 dmma_k(lane, k + (Tile::kAlongK ? 1 : step))));
            }
          }
        }
      }
    }
  });
}

// The tiles whose elements are loaded alone.
template <class F>
void for_each_tile_of_elements(F f) {
  f(SwizzledTile<double, 128, 16, Major::kK, ElementSwizzle>{});
  f(SwizzledTile<double, 64, 16, Major::kK, ElementSwizzle>{});
  f(SwizzledTile<double, 16, 16, Major::kK, ElementSwizzle>{});
  f(SwizzledTile<double, 64, 32, Major::kK, ElementSwizzle>{});
}

TEST(DmmaElementLoads, BringTheElementsOfTheLane) {
  for_each_tile_of_elements([]<class Tile>(const Tile&) {
    for (int lane = 0; lane < 32; ++lane) {
      for (int first = 0; first < Tile::kOuter; first += kDmmaOuter) {
        const int at = DmmaElementLoads<Tile>::lane_offset(lane, first);
        for (int i = 0; first + i * kDmmaOuter < Tile::kOuter; ++i) {
          const int outer = first + i * kDmmaOuter;
          for (int step = 0; step < Tile::kK / 4; ++step) {
            for (int half = 0; half < 2; ++half) {
              EXPECT_EQ(DmmaElementLoads<Tile>::offset(at, i, half, step),
                        Tile::offset(outer + dmma_outer(lane, half), dmma_element_k(lane, step)));
            }
          }
        }
      }
    }
  });
}

// HW: a load of 64 bits goes through shared memory sixteen lanes at a time.
TEST(DmmaElementLoads, MeetInNoBank) {
  for_each_tile_of_elements([]<class Tile>(const Tile&) {
    for (int half = 0; half < 32; half += 16) {
      for (int i = 0; i < 2 * (Tile::kK / 4); ++i) {
        std::set<int> places;
        for (int lane = half; lane < half + 16; ++lane) {
          const int at = DmmaElementLoads<Tile>::lane_offset(lane, 0);
          places.insert(DmmaElementLoads<Tile>::offset(at, 0, i % 2, i / 2));
        }
        expect_bank_free(places, 8);
      }
    }
  });
}

// HW: a load of 128 bits goes through shared memory eight lanes at a time.
TEST(DmmaLoads, MeetInNoBank) {
  for_each_tile([]<class Tile>(const Tile&) {
    for (int which = 0; which < 2; ++which) {
      for (int eight = 0; eight < Tile::kK / 8; ++eight) {
        for (int eighth = 0; eighth < 32; eighth += 8) {
          std::set<int> places;
          for (int lane = eighth; lane < eighth + 8; ++lane) {
            const int at = DmmaLoads<Tile>::lane_offset(lane, 0);
            places.insert(DmmaLoads<Tile>::offset(at, 0, which, eight));
          }
          expect_bank_free(places, 16);
        }
      }
    }
  });
}

// HW: lane (g, t) of the instructions has row g of A, column g of B, and columns 2t, 2t + 1 of D.
TEST(DmmaLanes, AgreeOnColumnsOfD) {
  std::map<int, int> seen;
  for (int t = 0; t < 4; ++t) {
    for (int pair = 0; pair < 2; ++pair) {
      const int lane_of_b = 4 * (2 * t + pair);
      for (int half = 0; half < 2; ++half) {
        const int column = dmma_column(t, pair) + half;
        EXPECT_EQ(column, dmma_outer(lane_of_b, half));
        ++seen[column];
      }
    }
  }
  EXPECT_EQ(seen.size(), 16u);
}

TEST(DmmaLanes, HaveEachKOnce) {
  for (const auto k_of : {dmma_k, dmma_element_k}) {
    std::set<int> seen;
    for (int t = 0; t < 4; ++t) {
      for (int step = 0; step < 4; ++step) seen.insert(k_of(t, step));
    }
    EXPECT_EQ(seen.size(), 16u);
    EXPECT_EQ(*seen.rbegin(), 15);
  }
}

template <class Tile, int threads, int width>
void expect_right_copies() {
  using Map = SwizzledCopyMap<Tile, threads, width>;
  std::set<int> seen;
  for (int i = 0; i < Map::kCount; ++i) {
    for (int t = 0; t < threads; ++t) {
      const int outer = Map::outer(t) + (Tile::kAlongK ? i * Map::kLines : 0);
      const int k = Map::k(t) + (Tile::kAlongK ? 0 : i * Map::kLines);
      const int place = Map::place(Tile::offset(Map::outer(t), Map::k(t)), i);
      EXPECT_EQ(place, Tile::offset(outer, k));
      seen.insert(place);
    }
    constexpr int kTogether = 128 / (8 * width);  // threads
    for (int first = 0; first < threads; first += kTogether) {
      std::set<int> places;
      for (int t = first; t < first + kTogether; ++t) {
        places.insert(Map::place(Tile::offset(Map::outer(t), Map::k(t)), i));
      }
      expect_bank_free(places, 8 * width);
    }
  }
  EXPECT_EQ(seen.size() * width, std::size_t{Tile::kOuter} * Tile::kK);
  const bool follows = Tile::kAlongK ? Map::k(1) == width : Map::outer(1) == width;
  EXPECT_TRUE(follows) << "neighbouring threads read neighbours";
}

TEST(SwizzledCopyMap, CopiesEachElementOnceWithoutConflicts) {
  for_each_tile([]<class Tile>(const Tile&) {
    expect_right_copies<Tile, 128, 1>();
    expect_right_copies<Tile, 128, 2>();
    if constexpr (Tile::kOuter >= 32) {
      expect_right_copies<Tile, 256, 1>();
      expect_right_copies<Tile, 256, 2>();
    }
  });
  for_each_tile_of_elements([]<class Tile>(const Tile&) {
    expect_right_copies<Tile, 128, 1>();
    expect_right_copies<Tile, 128, 2>();
  });
}

}  // namespace
}  // namespace tessera::tile
