// The schedule of a persistent grid: whatever the sizes, every k tile of every output tile is
// computed once, and every partial sum has a place of its own.
#include "kernels/schedule/stream_k.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <vector>

#include "gemm/choose_stream_k.h"

namespace tessera::schedule {
namespace {

using Tile = std::pair<long long, long long>;

std::vector<Work> items_of(const StreamK& s, int cta) {
  std::vector<Work> items;
  for (Work work = first(s, cta); work.valid; work = next(s, cta, work)) items.push_back(work);
  return items;
}

std::string text_of(const StreamK& s) {
  return "ctas " + std::to_string(s.ctas) + ", tiles " + std::to_string(s.tiles_m) + "x" +
         std::to_string(s.tiles_n) + ", whole " + std::to_string(s.whole_tiles) + ", k tiles " +
         std::to_string(s.k_tiles) + ", runs " + std::to_string(s.runs) + ", snap " +
         std::to_string(s.snap);
}

// Every (tile, k tile) exactly once, every slot at most once and within the workspace.
void expect_covers_everything(const StreamK& s) {
  std::map<Tile, std::vector<int>> times;
  std::set<long long> slots;
  for (int cta = 0; cta < s.ctas; ++cta) {
    for (const Work& work : items_of(s, cta)) {
      ASSERT_TRUE(work.tile_m >= 0 && work.tile_m < s.tiles_m && work.tile_n >= 0 &&
                  work.tile_n < s.tiles_n && work.k_begin >= 0 && work.k_end <= s.k_tiles)
          << text_of(s);
      std::vector<int>& seen = times[{work.tile_m, work.tile_n}];
      seen.resize(static_cast<std::size_t>(s.k_tiles) + 1);  // the last: times written to D
      for (int k = work.k_begin; k < work.k_end; ++k) ++seen[static_cast<std::size_t>(k)];
      const bool whole = work.k_begin == 0 && work.k_end == s.k_tiles;
      ASSERT_EQ(whole, work.slot < 0) << text_of(s);
      if (whole) ++seen.back();
      ASSERT_TRUE(whole || work.k_begin < work.k_end) << "an empty part, " << text_of(s);
      ASSERT_TRUE(whole || (work.slot < slots_of(s) && slots.insert(work.slot).second))
          << "slot " << work.slot << ", " << text_of(s);
    }
  }
  ASSERT_EQ(times.size(), static_cast<std::size_t>(s.tiles())) << text_of(s);
  for (const auto& [tile, seen] : times) {
    for (int k = 0; k < s.k_tiles; ++k) {
      ASSERT_EQ(seen[static_cast<std::size_t>(k)], 1) << "k tile " << k << ", " << text_of(s);
    }
  }
}

// The slots that the second launch adds, in ascending k, are those that were written.
void expect_partials_are_what_was_written(const StreamK& s) {
  std::map<long long, Work> written;
  std::set<Tile> whole;
  for (int cta = 0; cta < s.ctas; ++cta) {
    for (const Work& work : items_of(s, cta)) {
      if (work.slot >= 0) written[work.slot] = work;
      if (work.slot < 0) whole.insert({work.tile_m, work.tile_n});
    }
  }
  for (int split = 0; split < s.split_tiles(); ++split) {
    const TileCoord at = raster(s, s.whole_tiles + split);
    const Partials partials = partials_of(s, split);
    ASSERT_EQ(partials.count == 1, whole.count({at.m, at.n}) == 1) << text_of(s);
    if (partials.count == 1) continue;
    int k = 0;
    for (int i = 0; i < partials.count; ++i) {
      const long long slot = partials.slot(i);
      ASSERT_EQ(written.count(slot), 1u) << text_of(s);
      const Work work = written.extract(slot).mapped();
      ASSERT_EQ(Tile(work.tile_m, work.tile_n), Tile(at.m, at.n)) << text_of(s);
      ASSERT_EQ(work.k_begin, k) << text_of(s);
      k = work.k_end;
    }
    ASSERT_EQ(k, s.k_tiles) << text_of(s);
  }
  EXPECT_TRUE(written.empty()) << "written and never read, " << text_of(s);
}

StreamK schedule(int tiles_m, int tiles_n, int k_tiles, int ctas, int whole, int runs, int snap) {
  StreamK s{};
  s.ctas = ctas;
  s.tiles_m = tiles_m;
  s.tiles_n = tiles_n;
  s.group = std::min(3, tiles_m);
  s.k_tiles = k_tiles;
  return with_runs(s, whole, runs, snap);
}

TEST(StreamK, EverythingOnce) {
  std::mt19937 random(1);
  const auto up_to = [&](int most) { return static_cast<int>(random() % most) + 1; };
  for (int i = 0; i < 3000; ++i) {
    const int tiles_m = up_to(9), tiles_n = up_to(9), ctas = up_to(14);
    const int waves = tiles_m * tiles_n / ctas;
    const int whole = static_cast<int>(random() % (waves + 1)) * ctas, k_tiles = up_to(40);
    const int units = (tiles_m * tiles_n - whole) * k_tiles;
    const int runs = units == 0 ? 0 : std::min(up_to(ctas), units);  // none of them empty
    const StreamK s =
        schedule(tiles_m, tiles_n, k_tiles, ctas, whole, runs, static_cast<int>(random() % 4));
    expect_covers_everything(s);
    expect_partials_are_what_was_written(s);
    if (HasFatalFailure()) return;
  }
}

// The time of one CTA, in k tiles.
int time_of(const StreamK& s, int cta) {
  int time = 0;
  for (const Work& work : items_of(s, cta)) time += work.k_end - work.k_begin + kEndOfTile;
  return time;
}

TEST(StreamK, RunsTakeAboutAsLong) {
  std::mt19937 random(4);
  const auto up_to = [&](int most) { return static_cast<int>(random() % most) + 1; };
  for (int i = 0; i < 1000; ++i) {
    const int tiles_n = up_to(9), ctas = up_to(40), k_tiles = ctas + up_to(400);
    const StreamK whole = data_parallel(1, tiles_n, k_tiles, {1, 1, 1}, ctas);
    const StreamK s = with_split(whole, 0, ctas, ctas);
    int sum = 0;
    for (int cta = 0; cta < ctas; ++cta) sum += time_of(s, cta);
    const int mean = sum / ctas;
    // Rounding the head up by one k tile takes up to tiles_n of them off the last run.
    const int rounding = s.tail_runs() > 0 ? tiles_n * s.parts / s.tail_runs() : 0;
    for (int cta = 0; cta < ctas; ++cta) {
      ASSERT_LE(time_of(s, cta), mean + 2 * kEndOfTile + 2) << text_of(s) << ", run " << cta;
      if (cta >= s.runs) continue;  // it had too little to do
      ASSERT_GE(time_of(s, cta), mean - rounding - 2 * kEndOfTile - 2)
          << text_of(s) << ", run " << cta;
    }
  }
}

// 104 tiles in 132 runs: while the first 104 runs multiply heads, all are at the same k.
TEST(StreamK, RunsOfHeadsAreAtTheSameK) {
  const StreamK s = schedule(8, 13, 400, 132, 0, 132, 1);
  std::set<Tile> tiles;
  for (int cta = 0; cta < 104; ++cta) {
    const auto items = items_of(s, cta);
    ASSERT_EQ(items.size(), 1u) << cta;
    EXPECT_EQ(items[0].k_begin, 0) << cta;
    EXPECT_EQ(items[0].k_end, 318) << cta;  // (400 + kEndOfTile) * 104 / 132, rounded up
    tiles.insert({items[0].tile_m, items[0].tile_n});
  }
  EXPECT_EQ(tiles.size(), 104u);
  for (int cta = 104; cta < 132; ++cta) {
    for (const Work& work : items_of(s, cta)) EXPECT_GE(work.k_begin, 318) << cta;
  }
}

TEST(StreamK, RunsOfSplitTilesAreAtTheSameK) {
  const StreamK s = schedule(3, 7, 6581, 132, 0, 126, 1);  // six runs for each of 21 tiles
  std::map<int, int> begins;
  for (int cta = 0; cta < 126; ++cta) ++begins[first(s, cta).k_begin];
  EXPECT_EQ(begins.size(), 6u);
  for (const auto& [k, runs] : begins) EXPECT_EQ(runs, 21) << k;
  EXPECT_FALSE(first(s, 126).valid);
}

// As many runs for each tile: 66 runs of 124 or 125 k tiles each, and nobody begins a second tile.
TEST(StreamK, SplittingAllTilesAlikeCrossesNoEdge) {
  const StreamK s = schedule(1, 4, 8192, 264, 0, 264, 0);
  for (int cta = 0; cta < s.ctas; ++cta) {
    const auto items = items_of(s, cta);
    ASSERT_EQ(items.size(), 1u) << cta;
    EXPECT_GE(items[0].k_end - items[0].k_begin, 124);
    EXPECT_LE(items[0].k_end - items[0].k_begin, 125);
  }
}

TEST(StreamK, SnappingLeavesNoShortPart) {
  for (int runs = 1; runs <= 12; ++runs) {
    const StreamK s = schedule(2, 2, 80, 12, 0, runs, 3);
    for (int cta = 0; cta < s.ctas; ++cta) {
      for (const Work& work : items_of(s, cta)) EXPECT_GT(work.k_end - work.k_begin, 3);
    }
  }
}

TEST(StreamK, TilesOfAWaveAreCompact) {
  StreamK s = schedule(64, 64, 10, 128, 4096, 0, 0);
  s.group = 8;
  std::set<long long> rows, cols;
  for (int cta = 0; cta < s.ctas; ++cta) {
    const Work work = first(s, cta);
    rows.insert(work.tile_m);
    cols.insert(work.tile_n);
  }
  EXPECT_EQ(rows.size(), 8u);
  EXPECT_EQ(cols.size(), 16u);
}

TEST(StreamK, WithoutKEveryTileIsWrittenOnce) {
  const StreamK s = data_parallel(300, 500, 0, {128, 128, 16}, 5);
  EXPECT_EQ(s.k_tiles, 0);
  expect_covers_everything(s);
}

TEST(StreamK, MillionsOfTiles) {
  const StreamK s = data_parallel(1, 1000000000, 64, {128, 128, 16}, 132);
  EXPECT_EQ(s.tiles(), 7812500);
  const Work work = first(s, 131);
  EXPECT_EQ(next(s, 131, work).tile_n, 263);
}

// The approximate costs of a 256x128x16 tile on an H200.
constexpr TileCosts kCosts = {.ctas_per_sm = 1,
                              .start = 2000,
                              .k_tile = 4660,
                              .store = 6000,
                              .memory = 0,
                              .add = 8000,
                              .add_partial = 50};

StreamK chosen(long long m, long long n, long long k, int ctas = 132) {
  return choose_stream_k(m, n, k, {256, 128, 16}, ctas, kCosts);
}

TEST(ChooseStreamK, CoversEverythingThatItChooses) {
  std::mt19937 random(2);
  for (int i = 0; i < 2000; ++i) {
    const auto size = [&](int most) { return static_cast<long long>(random() % most) + 1; };
    const StreamK s = chosen(size(3000), size(3000), size(1500), static_cast<int>(size(17)));
    expect_covers_everything(s);
    expect_partials_are_what_was_written(s);
    if (HasFatalFailure()) return;
  }
}

// 2048 squares, rung 44: 128 tiles of 128 k tiles are left for 132 CTAs. Four more runs would end
// 32 tails of one k tile each.
TEST(ChooseStreamK, RunsThatWouldEndDozensOfTailsDoNothing) {
  const StreamK whole = data_parallel(8, 16, 128, {1, 1, 1}, 132);
  EXPECT_EQ(with_split(whole, 0, 132, 132).split_tiles(), 0);
  EXPECT_EQ(with_split(whole, 0, 132, 132).ctas, 128);
  const StreamK two = with_split(data_parallel(8, 8, 128, {1, 1, 1}, 132), 0, 132, 132);
  EXPECT_EQ(two.runs, 128);
  EXPECT_EQ(two.tail(), 0);
}

// Two slots per run, one for the first and the last; a run that ends at an edge leaves one empty.
TEST(StreamK, RunsThatAreFewerThanTheirTilesHaveTwoSlotsEach) {
  const StreamK s = schedule(16, 16, 256, 132, 0, 132, 1);
  EXPECT_EQ(slots_of(s), 2 * 132 - 2);
  long long written = 0;
  for (int cta = 0; cta < s.ctas; ++cta) {
    for (const Work& work : items_of(s, cta)) written += work.slot >= 0;
  }
  EXPECT_GE(written, slots_of(s) * 95 / 100);  // some runs end at an edge
}

TEST(ChooseStreamK, TheLastWaveCanAlwaysBeCut) {
  std::mt19937 random(3);
  for (int i = 0; i < 1000; ++i) {
    const auto size = [&](int most) { return static_cast<long long>(random() % most) + 1; };
    const int ctas = static_cast<int>(size(17));
    const StreamK s = split_last_wave(size(3000), size(3000), size(300), {256, 128, 16}, ctas);
    expect_covers_everything(s);
    expect_partials_are_what_was_written(s);
    const int last_wave = (s.tiles() - 1) % ctas + 1;
    const bool can_be_cut = ctas > 1 && s.k_tiles > 1 && last_wave != 2;
    EXPECT_TRUE(slots_of(s) > 0 || !can_be_cut) << text_of(s);
    if (HasFatalFailure()) return;
  }
  EXPECT_EQ(split_last_wave(300, 300, 0, {256, 128, 16}, 5).split_tiles(), 0);
}

TEST(ChooseStreamK, FullWavesStayWhole) {
  const StreamK s = chosen(256 * 12, 128 * 11, 4096);
  EXPECT_EQ(s.whole_tiles, 132);
  EXPECT_EQ(slots_of(s), 0);
}

TEST(ChooseStreamK, AHalfEmptyLastWaveIsCut) {
  const StreamK s = chosen(8192, 8192, 8192);  // 2048 tiles: 15 waves and 68
  EXPECT_TRUE(s.whole_tiles == 15 * 132 || s.whole_tiles == 14 * 132) << s.whole_tiles;
  EXPECT_EQ(s.runs, 132);
  const double saved =
      predicted(data_parallel(8192, 8192, 8192, {256, 128, 16}, 132), 132, kCosts).total() -
      predicted(s, 132, kCosts).total();
  EXPECT_GT(saved, 0);
}

// By the model two split waves are a little shorter, in which all runs are at different k.
TEST(ChooseStreamK, AWaveMoreIsOnlySplitWhereItSaves) {
  TileCosts costs = kCosts;
  costs.store = 700;
  const auto kept = [&](long long size) {
    return choose_stream_k(size, size, size, {256, 128, 16}, 132, costs).whole_tiles;
  };
  EXPECT_EQ(kept(4096), 3 * 132);
  EXPECT_EQ(kept(8192), 15 * 132);
}

TEST(ChooseStreamK, LongAndThinIsSplitAlongK) {
  const StreamK s = chosen(128, 128, 262144);
  EXPECT_EQ(s.whole_tiles, 0);
  EXPECT_GE(s.runs, 130);
}

TEST(ChooseStreamK, ARunOfTailsEndsEachOfItsTiles) {
  std::mt19937 random(5);
  for (int i = 0; i < 1000; ++i) {
    const int runs = 2 + static_cast<int>(random() % 40),
              tiles = 1 + static_cast<int>(random() % 9);
    const StreamK s = schedule(1, tiles, runs + static_cast<int>(random() % 400), runs, 0, runs, 0);
    double last = 0;
    for (int cta = 0; cta < runs; ++cta) {
      double time = 0;
      for (const Work& work : items_of(s, cta)) {
        time += (work.k_end - work.k_begin) * kCosts.k_tile + kCosts.store;
      }
      last = std::max(last, time);
    }
    const Cycles cycles = predicted(s, runs, kCosts);
    ASSERT_GE(cycles.multiply + cycles.store, last * (1 - 1e-9)) << text_of(s);
    // A run may begin at a tile's edge, or be of the shorter ones.
    ASSERT_LE(cycles.multiply + cycles.store, last + kCosts.store + kCosts.k_tile) << text_of(s);
  }
}

// Operands far beyond the L2: the choice of a schedule whose runs read them again costs what the
// L2 does not hold.
TEST(ChooseStreamK, RunsThatReadAgainWhatTheL2DoesNotHoldCostMemory) {
  TileCosts costs = kCosts;
  costs.slab = 7000, costs.tile_slab = 1400, costs.held = 1e6;
  const StreamK tails =
      with_runs(data_parallel(256 * 7, 128 * 3, 1 << 17, {256, 128, 16}, 132), 0, 20, kSnap);
  ASSERT_EQ(tails.parts, 0);
  const double all = 8192.0 * (21 * 1400 - 7000);
  EXPECT_NEAR(read_again(tails, costs), all, 0.01 * all);
  costs.held = 1e9;
  EXPECT_LT(read_again(tails, costs), 0.01 * all);
  const StreamK alike = with_runs(tails, 0, 126, kSnap);
  EXPECT_EQ(read_again(alike, costs), 0);
}

TEST(ChooseStreamK, ShortKIsNotCut) {
  EXPECT_EQ(slots_of(chosen(100000, 64, 64)), 0);
  EXPECT_EQ(slots_of(chosen(1000, 1000, 0)), 0);
}

TEST(ChooseStreamK, TooManyTilesAreRefused) {
  EXPECT_TRUE(fits_schedule(1, 1LL << 36, 64, {256, 128, 16}));
  EXPECT_TRUE(fits_schedule(1, 1LL << 37, 1LL << 34, {256, 128, 16}));  // 2^30 tiles of n and of k
  EXPECT_FALSE(fits_schedule(1, 1LL << 37, (1LL << 34) + 1, {256, 128, 16}));
  EXPECT_FALSE(fits_schedule(1, (1LL << 37) + 1, 1LL << 34, {256, 128, 16}));
  EXPECT_TRUE(fits_schedule(1LL << 38, 1, 1, {256, 128, 16}));
  EXPECT_FALSE(fits_schedule((1LL << 38) + 1, 1, 1, {256, 128, 16}));
  EXPECT_TRUE(fits_schedule(1, 1, 1, {256, 128, 16}, 1 << 30));
  EXPECT_FALSE(fits_schedule(1, 1, 1, {256, 128, 16}, (1 << 30) + 1));
  EXPECT_FALSE(fits_schedule(1, 1LL << 38, 64, {256, 128, 16}));
  EXPECT_FALSE(fits_schedule(1LL << 62, 1LL << 62, 64, {256, 128, 16}));
}

}  // namespace
}  // namespace tessera::schedule
