// 2048 tiles on 132 SMs are 15 full waves and one that leaves half of the GPU idle. This schedule
// has no partial wave: a persistent grid computes whole tiles while there is one for every CTA, and
// splits the remaining tiles along k into equal runs. A run that has only a part of a tile's k
// stores a partial sum in a slot of the workspace; a second launch adds the slots of each split
// tile in ascending k. There are no atomics and no flags, so every run of the program gives the
// same result.
//
//   tiles 0 ... whole_tiles-1            tile w * ctas + cta is computed by `cta` in wave w
//   tiles whole_tiles ... tiles()-1      k_tiles units each, numbered in sequence: CTA r has run r
//
// Pure constexpr, for kernels and for the host. Each role of a kernel (producer, consumers)
// iterates over its CTA's items:
//   for (Work work = first(schedule, cta); work.valid; work = next(schedule, cta, work)) ...
#pragma once

#include "kernels/tile/coord.h"

namespace tessera::schedule {

using TileCoord = tile::Coord<long long>;  // in tiles of D

// Plain data, part of a kernel's parameters. The host chooses it.
struct StreamK {
  int ctas;  // size of the persistent grid
  int tiles_m, tiles_n;
  int group;        // tile rows per group of the raster
  int whole_tiles;  // tiles that are not split: a multiple of ctas, or all tiles
  int k_tiles;      // per tile; 0 if A and B are not read
  int runs;         // number of runs that the split tiles are divided into, at most ctas
  int snap;         // a run that ends within this distance (k tiles) of a tile's edge ends there
  // Length of a run in k tiles. longer_runs of the runs, evenly distributed, are one longer.
  long long run_length, longer_runs;  // WHY 64 bits: the struct has no padding

  constexpr int tiles() const { return tiles_m * tiles_n; }
  constexpr int split_tiles() const { return tiles() - whole_tiles; }
};

// One piece of a CTA's work: k tiles k_begin ... k_end-1 of one output tile.
struct WorkItem {
  long long tile_m, tile_n;
  int k_begin, k_end;
  long long slot;  // slot of the workspace for a partial sum; -1: the tile is whole, write D
};

// Groups of `group` tile rows, column by column: concurrent tiles form a compact patch of D, and
// share their rows of A and columns of B in L2.
constexpr TileCoord raster(const StreamK& s, int tile) {
  const int tiles_per_group = s.group * s.tiles_n;
  const int first_row = tile / tiles_per_group * s.group;
  const int inside = tile % tiles_per_group;
  const int rows = s.tiles_m - first_row < s.group ? s.tiles_m - first_row : s.group;
  return {first_row + inside % rows, inside / rows};
}

// Splits all tiles after the first `whole_tiles` into `runs` runs of nearly equal length. Without
// snapping if it could leave an empty run.
constexpr StreamK with_runs(StreamK s, int whole_tiles, int runs, int snap) {
  s.whole_tiles = whole_tiles;
  const long long units = static_cast<long long>(s.split_tiles()) * s.k_tiles;
  s.runs = runs;
  s.run_length = runs > 0 ? units / runs : 0;
  s.longer_runs = runs > 0 ? units % runs : 0;
  s.snap = s.run_length > 2 * snap && s.k_tiles > 2 * snap ? snap : 0;
  return s;
}

// The first unit of run r; run r ends where run r + 1 begins. If each tile has the same number of
// runs, no run crosses the edge of a tile.
constexpr long long run_begin(const StreamK& s, int r) {
  const long long even = r * s.run_length + r * s.longer_runs / s.runs;
  if (s.snap == 0) return even;
  const int inside = static_cast<int>(even % s.k_tiles);
  if (inside <= s.snap) return even - inside;
  return s.k_tiles - inside <= s.snap ? even + s.k_tiles - inside : even;
}

// A run has at most two partial sums, of its first and of its last tile: two slots per run. A
// partial sum from the beginning of a tile's k takes the second one.
constexpr long long slot_of(int run, int k_begin) { return 2LL * run + (k_begin == 0 ? 1 : 0); }
constexpr long long slots_of(const StreamK& s) { return s.split_tiles() == 0 ? 0 : 2LL * s.runs; }

// An item, and the state from which next() derives the CTA's next item.
struct Work : WorkItem {
  bool valid;
  int next_tile;            // for whole tiles: the CTA's next one
  long long unit, run_end;  // for split tiles: the remaining units of the run
};

namespace detail {

constexpr Work whole_tile(const StreamK& s, int tile) {
  const TileCoord at = raster(s, tile);
  return {{at.m, at.n, 0, s.k_tiles, -1}, true, tile + s.ctas, 0, 0};
}

constexpr Work item_of_run(const StreamK& s, int cta, long long unit, long long run_end) {
  if (unit >= run_end) return {};
  const int tile = static_cast<int>(unit / s.k_tiles);
  const int k_begin = static_cast<int>(unit % s.k_tiles);
  const long long left = run_end - unit;
  const int k_end = left < s.k_tiles - k_begin ? k_begin + static_cast<int>(left) : s.k_tiles;
  const bool whole = k_begin == 0 && k_end == s.k_tiles;
  const TileCoord at = raster(s, s.whole_tiles + tile);
  return {{at.m, at.n, k_begin, k_end, whole ? -1 : slot_of(cta, k_begin)},
          true,
          s.whole_tiles,
          unit + (k_end - k_begin),
          run_end};
}

constexpr Work first_of_run(const StreamK& s, int cta) {
  if (s.split_tiles() == 0 || cta >= s.runs) return {};
  return item_of_run(s, cta, run_begin(s, cta), run_begin(s, cta + 1));
}

}  // namespace detail

constexpr Work first(const StreamK& s, int cta) {
  return cta < s.whole_tiles ? detail::whole_tile(s, cta) : detail::first_of_run(s, cta);
}

constexpr Work next(const StreamK& s, int cta, const Work& work) {
  if (work.next_tile < s.whole_tiles) return detail::whole_tile(s, work.next_tile);
  if (work.run_end == 0) return detail::first_of_run(s, cta);
  return detail::item_of_run(s, cta, work.unit, work.run_end);
}

// The runs with a partial sum of split tile number `split` (0 is tile whole_tiles), for the launch
// that adds them in ascending k.
struct Partials {
  int first, last;  // both inclusive; equal if one run computes the whole tile

  // Only the first run has the beginning of the tile's k.
  constexpr long long slot(int run) const { return slot_of(run, run == first ? 0 : 1); }
};

namespace detail {

constexpr int run_at(const StreamK& s, long long unit) {
  const long long units = s.runs * s.run_length + s.longer_runs;
  int run = static_cast<int>(unit * s.runs / units);
  while (run > 0 && run_begin(s, run) > unit) --run;  // rounding and snapping move it by one or two
  while (run + 1 < s.runs && run_begin(s, run + 1) <= unit) ++run;
  return run;
}

}  // namespace detail

constexpr Partials partials_of(const StreamK& s, int split) {
  const long long begin = static_cast<long long>(split) * s.k_tiles;
  return {detail::run_at(s, begin), detail::run_at(s, begin + s.k_tiles - 1)};
}

}  // namespace tessera::schedule
