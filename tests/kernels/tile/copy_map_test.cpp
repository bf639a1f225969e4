// The maps by which threads copy tiles: each element once, whole lines at a time from global
// memory, and no two writes of a warp in one bank.
#include "kernels/tile/copy_map.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "kernels/tile/lanes.h"

namespace tessera::tile {
namespace {

template <int extent, int depth, bool along_k, int threads>
void expect_right_elements() {
  using Map = ElementMap<extent, depth, along_k, threads>;
  constexpr int kPitch = extent + (along_k ? 4 : 0);  // of transposed tiles: simt/config.h
  std::set<std::pair<int, int>> seen;
  for (int t = 0; t < threads; ++t) {
    for (int i = 0; i < Map::kOuterCount; ++i) {
      for (int j = 0; j < Map::kKCount; ++j) {
        const int outer = Map::outer(t) + i * Map::kOuterStep, k = Map::k(t) + j * Map::kKStep;
        EXPECT_TRUE(outer < extent && k < depth && seen.emplace(outer, k).second);
      }
    }
  }
  EXPECT_EQ(seen.size(), std::size_t{extent} * depth);
  for (int warp = 0; warp < threads; warp += 32) {
    std::set<int> banks;
    for (int t = warp; t < warp + 32; ++t) banks.insert((Map::k(t) * kPitch + Map::outer(t)) % 32);
    EXPECT_EQ(banks.size(), 32u) << extent << ' ' << along_k << ' ' << warp;
    const bool follows = along_k ? Map::k(warp + 1) == Map::k(warp) + 1
                                 : Map::outer(warp + 1) == Map::outer(warp) + 1;
    EXPECT_TRUE(follows) << "neighbouring threads read neighbours";
  }
}

// The tiles of the FP32 kernels and of rung 13.
TEST(CopyMap, ElementsAreCopiedOnceWithoutConflicts) {
  expect_right_elements<256, 8, false, 128>();
  expect_right_elements<256, 8, true, 128>();
  expect_right_elements<128, 32, true, 128>();
  expect_right_elements<64, 32, false, 128>();
  expect_right_elements<32, 16, true, 128>();
  expect_right_elements<16, 32, true, 128>();
  expect_right_elements<256, 16, true, 256>();
}

template <int extent, int depth, int threads>
void expect_right_vectors() {
  using Map = VectorMap<extent, depth, threads>;
  std::set<std::pair<int, int>> seen;
  for (int t = 0; t < threads; ++t) {
    EXPECT_EQ(Map::outer(t) % Map::kWidth, 0);
    for (int i = 0; i < Map::kKCount; ++i) {
      const int outer = Map::outer(t), k = Map::k(t) + i * Map::kKStep;
      EXPECT_TRUE(outer < extent && k < depth && seen.emplace(outer, k).second);
    }
  }
  EXPECT_EQ(seen.size(), std::size_t{extent} / Map::kWidth * depth);
  EXPECT_EQ(Map::outer(1), Map::kWidth);
}

TEST(CopyMap, VectorsAreCopiedOnce) {
  expect_right_vectors<256, 16, 256>();
  expect_right_vectors<128, 16, 256>();
}

TEST(Warps, CoverTheBlockRowByRow) {
  std::set<std::pair<int, int>> seen;
  for (int thread = 0; thread < 8 * 32; ++thread) {
    const Coord<> warp = warp_coord({4, 2}, thread);
    EXPECT_EQ(warp.m * 2 + warp.n, thread / 32);
    EXPECT_TRUE(warp.m < 4 && warp.n < 2);
    seen.emplace(warp.m, warp.n);
  }
  EXPECT_EQ(seen.size(), 8u);
}

}  // namespace
}  // namespace tessera::tile
