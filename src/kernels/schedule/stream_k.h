// 2048 tiles on 132 SMs are 15 full waves, and one wave that leaves half of the GPU idle. This
// schedule has no partial wave: a persistent grid computes whole tiles while there is one for every
// CTA, and splits the remaining tiles along k into runs of equal length, at most one per CTA. If a
// run has only a part of a tile's k, it stores partial sums in a slot of the workspace. A second
// launch adds the slots of each split tile in ascending k. There are no atomics and no flags, so a
// product has the same bits each time.
//
//   tiles 0 ... whole_tiles-1            tile w * ctas + cta is computed by `cta` in wave w
//   tiles whole_tiles ... tiles()-1      CTA r computes run r
//
// If there are more runs than split tiles, each split tile is cut in two. Its head (k tiles
// 0 ... head-1) is divided equally among `parts` runs. The tails (k tiles head ... k_tiles-1) of
// all split tiles, in sequence, are divided among the other runs. So tiles of the same rows of A
// are at the same k at the same time, and find in L2 what another CTA has read. If runs went
// through whole tiles in sequence, every run would be at a different k.
//
// All functions are constexpr, for kernels and for the host. Each role of a kernel (producer,
// consumers) iterates over the work items of its CTA:
//   for (Work work = first(schedule, cta); work.valid; work = next(schedule, cta, work)) ...
#pragma once

#include "kernels/tile/coord.h"

namespace tessera::schedule {

using TileCoord = tile::Coord<long long>;  // row and column of a tile of D, counted in tiles

// A schedule: plain data, which the host chooses and passes in a kernel's parameters.
struct StreamK {
  int ctas;  // number of CTAs of the persistent grid
  int tiles_m, tiles_n;
  int group;        // rows of tiles per group of raster()
  int whole_tiles;  // tiles that are not split: a multiple of ctas, or all tiles
  int k_tiles;      // k tiles of each tile; 0 if A and B are not read
  int runs;         // number of runs that the split tiles are divided into, at most ctas
  int parts;        // number of runs that share the head of each split tile
  int head;         // k tiles of the head of each split tile
  int snap;         // a run that would end within `snap` k tiles of a tail's edge ends at the edge
  // A run of tails has run_length k tiles; longer_runs runs, evenly spread, have one k tile more.
  long long run_length, longer_runs;  // WHY 64 bits: the struct has no padding

  constexpr int tiles() const { return tiles_m * tiles_n; }
  constexpr int split_tiles() const { return tiles() - whole_tiles; }
  constexpr int head_runs() const { return parts * split_tiles(); }
  constexpr int tail_runs() const { return runs - head_runs(); }
  constexpr int tail() const { return k_tiles - head; }
};

// One piece of a CTA's work: k tiles k_begin ... k_end-1 of one output tile.
struct WorkItem {
  long long tile_m, tile_n;
  int k_begin, k_end;
  long long slot;  // workspace slot for the partial sums; -1: the item has all of k and writes D
};

// The coordinates of tile `tile`. Tiles are numbered in groups of `group` rows, and by columns
// within a group, so that concurrent tiles share their rows of A and columns of B in L2.
constexpr TileCoord raster(const StreamK& s, int tile) {
  const int tiles_per_group = s.group * s.tiles_n;
  const int first_row = tile / tiles_per_group * s.group;
  const int inside = tile % tiles_per_group;
  const int rows = s.tiles_m - first_row < s.group ? s.tiles_m - first_row : s.group;
  return {first_row + inside % rows, inside / rows};
}

// The time to end a tile, in k tiles. An estimate.
inline constexpr int kEndOfTile = 3;

// Splits all tiles after the first `whole_tiles` into `runs` runs that take about equally long.
// Runs of tails are shorter, because they store more often. If snapping could leave a run empty,
// snap is 0.
constexpr StreamK with_runs(StreamK s, int whole_tiles, int runs, int snap) {
  s.whole_tiles = whole_tiles;
  s.runs = runs;
  const int tiles = s.split_tiles();
  s.parts = tiles > 0 ? runs / tiles : 0;
  const long long units = static_cast<long long>(s.head_runs()) * (s.k_tiles + kEndOfTile);
  const int head = runs > 0 ? static_cast<int>((units + runs - 1) / runs) : 0;
  const int most = s.tail_runs() > 0 ? s.k_tiles - 1 : s.k_tiles;
  s.head = head < most ? head : most;
  const long long tails = static_cast<long long>(tiles) * s.tail();
  s.run_length = s.tail_runs() > 0 ? tails / s.tail_runs() : 0;
  s.longer_runs = s.tail_runs() > 0 ? tails % s.tail_runs() : 0;
  s.snap = s.run_length > 2 * snap && s.tail() > 2 * snap ? snap : 0;
  return s;
}

// The first unit (k tile of a tail) of run r of the tails. Run r ends where run r + 1 begins.
constexpr long long run_begin(const StreamK& s, int r) {
  const long long even = r * s.run_length + r * s.longer_runs / s.tail_runs();
  if (s.snap == 0) return even;
  const int inside = static_cast<int>(even % s.tail());
  if (inside <= s.snap) return even - inside;
  return s.tail() - inside <= s.snap ? even + s.tail() - inside : even;
}

// The slots of the heads come first, ordered by tile; the slots of the tails follow. Each piece of
// the tails has a new run or a new tile, so the sum run + tile is a different slot for each piece.
constexpr long long slot_of_tail(const StreamK& s, int run, int tile) {
  return static_cast<long long>(s.head_runs()) + run + tile;
}
constexpr long long slots_of(const StreamK& s) {
  if (s.split_tiles() == 0) return 0;
  return s.runs + (s.tail_runs() > 0 ? s.split_tiles() : 0);
}

// A work item, and the state from which next() derives the CTA's next work item.
struct Work : WorkItem {
  bool valid;
  int next_tile;            // for whole tiles: the number of the CTA's next tile
  long long unit, run_end;  // for split tiles: the run's remaining units are unit ... run_end-1
};

namespace detail {

constexpr Work whole_tile(const StreamK& s, int tile) {
  const TileCoord at = raster(s, tile);
  return {{at.m, at.n, 0, s.k_tiles, -1}, true, tile + s.ctas, 0, 0};
}

// The item of k tiles k_begin ... k_end-1 of split tile number `tile`. `unit` and `run_end` are the
// units of the run that remain after the item.
constexpr Work part_of_tile(const StreamK& s, int tile, int k_begin, int k_end, long long slot,
                            long long unit, long long run_end) {
  const bool whole = k_begin == 0 && k_end == s.k_tiles;
  const TileCoord at = raster(s, s.whole_tiles + tile);
  return {{at.m, at.n, k_begin, k_end, whole ? -1 : slot}, true, s.whole_tiles, unit, run_end};
}

// The only item of run r, if r is a run of heads: one part of the head of one tile.
constexpr Work head_of_run(const StreamK& s, int r) {
  const int tile = r / s.parts, part = r % s.parts;
  const auto begin = [&](int i) {
    return static_cast<int>(static_cast<long long>(i) * s.head / s.parts);
  };
  return part_of_tile(s, tile, begin(part), begin(part + 1), r, 1, 1);
}

constexpr Work tail_of_run(const StreamK& s, int cta, long long unit, long long run_end) {
  if (unit >= run_end) return {};
  const int tile = static_cast<int>(unit / s.tail());
  const int inside = static_cast<int>(unit % s.tail());
  const long long left = run_end - unit;
  const int end = left < s.tail() - inside ? inside + static_cast<int>(left) : s.tail();
  return part_of_tile(s, tile, s.head + inside, s.head + end,
                      slot_of_tail(s, cta - s.head_runs(), tile), unit + (end - inside), run_end);
}

constexpr Work first_of_run(const StreamK& s, int cta) {
  if (s.split_tiles() == 0 || cta >= s.runs) return {};
  if (cta < s.head_runs()) return head_of_run(s, cta);
  const int run = cta - s.head_runs();
  return tail_of_run(s, cta, run_begin(s, run), run_begin(s, run + 1));
}

}  // namespace detail

constexpr Work first(const StreamK& s, int cta) {
  return cta < s.whole_tiles ? detail::whole_tile(s, cta) : detail::first_of_run(s, cta);
}

constexpr Work next(const StreamK& s, int cta, const Work& work) {
  if (work.next_tile < s.whole_tiles) return detail::whole_tile(s, work.next_tile);
  if (work.run_end == 0) return detail::first_of_run(s, cta);
  return detail::tail_of_run(s, cta, work.unit, work.run_end);
}

// The slots of a split tile's partial sums, in ascending k: the slots of its head, then the slots
// of its tail. `split` of partials_of() numbers the split tiles; number 0 is tile whole_tiles.
struct Partials {
  int count;  // number of slots; 1: one run computed the whole tile and wrote D
  int heads;
  long long first_head, first_tail;  // first slot of the head, and of the tail

  constexpr long long slot(int i) const {
    return i < heads ? first_head + i : first_tail + (i - heads);
  }
};

namespace detail {

// The number of the run of tails that contains this unit (k tile of a tail).
constexpr int run_at(const StreamK& s, long long unit) {
  const int runs = s.tail_runs();
  const long long units = runs * s.run_length + s.longer_runs;
  int run = static_cast<int>(unit * runs / units);
  while (run > 0 && run_begin(s, run) > unit) --run;  // the estimate is off by one or two
  while (run + 1 < runs && run_begin(s, run + 1) <= unit) ++run;
  return run;
}

}  // namespace detail

constexpr Partials partials_of(const StreamK& s, int split) {
  const long long first_head = static_cast<long long>(split) * s.parts;
  if (s.tail_runs() == 0) return {s.parts, s.parts, first_head, 0};
  const long long begin = static_cast<long long>(split) * s.tail();
  const int first = detail::run_at(s, begin), last = detail::run_at(s, begin + s.tail() - 1);
  return {s.parts + last - first + 1, s.parts, first_head, slot_of_tail(s, first, split)};
}

}  // namespace tessera::schedule
