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
  // A run of heads has head_length k tiles; the first longer_heads of each tile have one more.
  int head_length, longer_heads;
  int snap;  // a run that would end within `snap` k tiles of a tail's edge ends at the edge
  // A run of tails has run_length k tiles; the first longer_runs have one more.
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

// The k tiles of a head if its run takes as long as a run of tails, rounded up.
constexpr long long even_head(const StreamK& s) {
  const long long units = static_cast<long long>(s.head_runs()) * (s.k_tiles + kEndOfTile);
  return (units + s.runs - 1) / s.runs;
}

// Splits all tiles after the first `whole_tiles` into at most `runs` runs that take about equally
// long. Runs of tails are shorter, because they store more often. Runs too few to take over a k
// tile of each split tile are left out. Where each tile would have one run, no tile is split. If
// snapping could leave a run empty, snap is 0.
constexpr StreamK with_runs(StreamK s, int whole_tiles, int runs, int snap) {
  s.whole_tiles = whole_tiles;
  s.runs = runs;
  const int tiles = s.split_tiles();
  s.parts = tiles > 0 ? runs / tiles : 0;
  if (s.parts > 0 && even_head(s) >= s.k_tiles) s.runs = s.head_runs();
  if (s.runs == tiles) s.whole_tiles = s.tiles(), s.runs = s.parts = 0;
  s.head = s.parts == 0 ? 0 : s.tail_runs() == 0 ? s.k_tiles : static_cast<int>(even_head(s));
  s.head_length = s.parts > 0 ? s.head / s.parts : 0;
  s.longer_heads = s.parts > 0 ? s.head % s.parts : 0;
  const long long tails = static_cast<long long>(s.split_tiles()) * s.tail();
  s.run_length = s.tail_runs() > 0 ? tails / s.tail_runs() : 0;
  s.longer_runs = s.tail_runs() > 0 ? tails % s.tail_runs() : 0;
  s.snap = s.run_length > 2 * snap && s.tail() > 2 * snap ? snap : 0;
  return s;
}

// The first unit (k tile of a tail) of run r of the tails. Run r ends where run r + 1 begins.
constexpr long long run_begin(const StreamK& s, int r) {
  const long long begin = r * s.run_length + (r < s.longer_runs ? r : s.longer_runs);
  if (s.snap == 0) return begin;
  const int inside = static_cast<int>(begin % s.tail());
  if (inside <= s.snap) return begin - inside;
  return s.tail() - inside <= s.snap ? begin + s.tail() - inside : begin;
}

// The slots of the heads come first, ordered by tile; the slots of the tails follow. Each piece of
// the tails has a new run or a new tile, so the sum run + tile is a different slot for each piece.
// Without heads, a run is at least as long as a tile: it has at most two partial sums, of the last
// part of its first tile and of the first part of its last tile. The first run begins a tile, and
// the last run ends one, so each of the two has only one.
constexpr long long slot_of_tail(const StreamK& s, int run, int tile, int k_begin) {
  if (s.parts == 0) return 2LL * run - (k_begin > 0 ? 1 : 0);
  return static_cast<long long>(s.head_runs()) + run + tile;
}
constexpr long long slots_of(const StreamK& s) {
  if (s.split_tiles() == 0) return 0;
  if (s.parts == 0) return 2LL * s.runs - 2;
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
    return i * s.head_length + (i < s.longer_heads ? i : s.longer_heads);
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
                      slot_of_tail(s, cta - s.head_runs(), tile, s.head + inside),
                      unit + (end - inside), run_end);
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
  const long long in_longer = s.longer_runs * (s.run_length + 1);
  int run = static_cast<int>(unit < in_longer ? unit / (s.run_length + 1)
                                              : s.longer_runs + (unit - in_longer) / s.run_length);
  while (run > 0 && run_begin(s, run) > unit) --run;  // snapping has moved its begin or its end
  while (run + 1 < s.tail_runs() && run_begin(s, run + 1) <= unit) ++run;
  return run;
}

}  // namespace detail

constexpr Partials partials_of(const StreamK& s, int split) {
  const long long first_head = static_cast<long long>(split) * s.parts;
  if (s.tail_runs() == 0) return {s.parts, s.parts, first_head, 0};
  const long long begin = static_cast<long long>(split) * s.tail();
  const int first = detail::run_at(s, begin), last = detail::run_at(s, begin + s.tail() - 1);
  return {s.parts + last - first + 1, s.parts, first_head, slot_of_tail(s, first, split, s.head)};
}

}  // namespace tessera::schedule
