// 2048 tiles on 132 SMs are 15 full waves and one that leaves half of the GPU idle. This schedule
// has no partial wave: a persistent grid computes whole tiles as long as all of its CTAs have one,
// and splits what remains along k into equal runs. A run that does not hold all of a tile's k
// leaves a partial sum in a slot of the workspace; a second launch adds the slots of each split
// tile in ascending k, so that the result is the same in every run of the program: no atomics, no
// flags.
//
//   tiles 0 ... whole_tiles-1            tile w * ctas + cta is computed by `cta` in wave w
//   tiles whole_tiles ... tiles()-1      k_tiles units each, one line of units: run r is for CTA r
//
// Pure constexpr, for kernels and for the host. Roles of a kernel (producer, consumers) each walk
// their CTA's items by themselves:
//   for (Work work = first(schedule, cta); work.valid; work = next(schedule, cta, work)) ...
#pragma once

#include "kernels/tile/coord.h"

namespace tessera::schedule {

using TileCoord = tile::Coord<long long>;  // in tiles of D

// Plain data, part of a kernel's parameters. The host chooses it.
struct StreamK {
  int ctas;  // of the persistent grid
  int tiles_m, tiles_n;
  int group;        // tile rows that are walked together
  int whole_tiles;  // computed whole, a multiple of ctas unless they are all
  int k_tiles;      // of every tile; 0 when A and B are not read
  int runs;         // of the split tiles, at most ctas
  int snap;         // a run that ends this close to a tile's edge ends at the edge (k tiles)
  // Length of a run in k tiles. longer_runs of them, evenly among the others, are one longer.
  long long run_length, longer_runs;  // 64 bits: a parameter block without padding

  constexpr int tiles() const { return tiles_m * tiles_n; }
  constexpr int split_tiles() const { return tiles() - whole_tiles; }
};

// What one CTA computes at a time: k tiles k_begin ... k_end-1 of one output tile.
struct WorkItem {
  long long tile_m, tile_n;
  int k_begin, k_end;
  long long slot;  // of the workspace, for a partial sum; -1: the tile is whole, write D
};

// Groups of `group` tile rows, walked down each column of tiles first: the tiles in flight cover a
// compact patch of D, and what they read of A and B is shared in the L2.
constexpr TileCoord raster(const StreamK& s, int tile) {
  const int tiles_per_group = s.group * s.tiles_n;
  const int first_row = tile / tiles_per_group * s.group;
  const int inside = tile % tiles_per_group;
  const int rows = s.tiles_m - first_row < s.group ? s.tiles_m - first_row : s.group;
  return {first_row + inside % rows, inside / rows};
}

// Splits all but `whole_tiles` into `runs` of nearly equal length. No run is so short that snapping
// could leave nothing of it.
constexpr StreamK with_runs(StreamK s, int whole_tiles, int runs, int snap) {
  s.whole_tiles = whole_tiles;
  const long long units = static_cast<long long>(s.split_tiles()) * s.k_tiles;
  s.runs = runs;
  s.run_length = runs > 0 ? units / runs : 0;
  s.longer_runs = runs > 0 ? units % runs : 0;
  s.snap = s.run_length > 2 * snap && s.k_tiles > 2 * snap ? snap : 0;
  return s;
}

// First unit of run r; run r ends where run r + 1 begins. Where each tile has the same number of
// runs, none crosses an edge.
constexpr long long run_begin(const StreamK& s, int r) {
  const long long even = r * s.run_length + r * s.longer_runs / s.runs;
  if (s.snap == 0) return even;
  const int inside = static_cast<int>(even % s.k_tiles);
  if (inside <= s.snap) return even - inside;
  return s.k_tiles - inside <= s.snap ? even + s.k_tiles - inside : even;
}

// A run ends at most one tile early and begins at most one late: two slots per run. The partial
// sum that begins its tile takes the second one.
constexpr long long slot_of(int run, int k_begin) { return 2LL * run + (k_begin == 0 ? 1 : 0); }
constexpr long long slots_of(const StreamK& s) { return s.split_tiles() == 0 ? 0 : 2LL * s.runs; }

// An item, and what its CTA computes after it.
struct Work : WorkItem {
  bool valid;
  int next_tile;            // whole tiles: the next one
  long long unit, run_end;  // split tiles: units that are left of the run
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

// The runs that hold a partial sum of split tile number `split` (0: tile whole_tiles), for the
// launch that adds them in ascending k.
struct Partials {
  int first, last;  // runs, both included; equal: the tile is whole in one run, nothing to add

  // Only the first of them begins its tile.
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
