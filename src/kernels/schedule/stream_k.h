// 2048 tiles on 132 multiprocessors are 15 full waves and one that leaves half of the GPU idle.
// This schedule has no partial wave: a persistent grid computes whole tiles as long as all of its
// blocks have one, and cuts what remains along k into equal runs. A run that does not hold all of a
// tile's k leaves a partial sum in a slot of the workspace; a second launch adds the slots of each
// cut tile in ascending k, so that the result is the same in every run: no atomics, no flags.
//
//   tiles 0 ... whole_tiles-1            tile w * ctas + cta is computed by `cta` in wave w
//   tiles whole_tiles ... tiles()-1      k_tiles units each, one line of units: run r is for CTA r
//
// Pure constexpr, for kernels and for the host. Roles of a kernel (producer, consumers) each walk
// their CTA's items by themselves:
//   for (Work work = first(schedule, cta); work.valid; work = next(schedule, cta, work)) ...
#pragma once

namespace tessera::scheduler {

// Plain data, part of a kernel's parameters. Host: choose_stream_k.h makes it.
struct StreamK {
  int ctas;  // of the persistent grid
  int tiles_m, tiles_n;
  int group;        // tile rows that are walked together
  int whole_tiles;  // computed whole, a multiple of ctas unless they are all
  int k_tiles;      // of every tile; 0 when A and B are not read
  int runs;         // into which the other tiles are cut, at most ctas
  int snap;         // a cut this close to a tile's edge moves onto it (k tiles)
  // Of a run, in k tiles; of longer_runs, evenly among the others, one more. Wide: no padding.
  long long run_length, longer_runs;

  constexpr int tiles() const { return tiles_m * tiles_n; }
  constexpr int cut_tiles() const { return tiles() - whole_tiles; }
};

// What one CTA computes at a time: k tiles k_begin ... k_end-1 of one output tile.
struct WorkItem {
  long long tile_m, tile_n;
  int k_begin, k_end;
  long long slot;  // of the workspace, for a partial sum; -1: the tile is whole, write D
};

struct TilePosition {
  long long m, n;
};

// Groups of `group` tile rows, walked down each column of tiles first: the tiles in flight cover a
// compact patch of D, and what they read of A and B is shared in the L2.
constexpr TilePosition position_of(const StreamK& s, int tile) {
  const int tiles_a_group = s.group * s.tiles_n;
  const int first_row = tile / tiles_a_group * s.group;
  const int inside = tile % tiles_a_group;
  const int rows = s.tiles_m - first_row < s.group ? s.tiles_m - first_row : s.group;
  return {first_row + inside % rows, inside / rows};
}

// Cuts all but `whole_tiles` into `runs` of nearly equal length. No run is so short that snapping
// could leave nothing of it.
constexpr StreamK with_runs(StreamK s, int whole_tiles, int runs, int snap) {
  s.whole_tiles = whole_tiles;
  const long long units = static_cast<long long>(s.cut_tiles()) * s.k_tiles;
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

// A run ends at most one tile early and begins at most one late: two slots a run. The part that
// begins its tile takes the second one.
constexpr long long slot_of(int run, int k_begin) { return 2LL * run + (k_begin == 0 ? 1 : 0); }
constexpr long long slots_of(const StreamK& s) { return s.cut_tiles() == 0 ? 0 : 2LL * s.runs; }

// An item, and where its CTA stands after it.
struct Work : WorkItem {
  bool valid;
  int next_tile;            // whole tiles: the next one
  long long unit, run_end;  // cut tiles: units that are left of the run
};

namespace detail {

constexpr Work whole_tile(const StreamK& s, int tile) {
  const TilePosition at = position_of(s, tile);
  return {{at.m, at.n, 0, s.k_tiles, -1}, true, tile + s.ctas, 0, 0};
}

constexpr Work part_of_run(const StreamK& s, int cta, long long unit, long long run_end) {
  if (unit >= run_end) return {};
  const int tile = static_cast<int>(unit / s.k_tiles);
  const int k_begin = static_cast<int>(unit % s.k_tiles);
  const long long left = run_end - unit;
  const int k_end = left < s.k_tiles - k_begin ? k_begin + static_cast<int>(left) : s.k_tiles;
  const bool whole = k_begin == 0 && k_end == s.k_tiles;
  const TilePosition at = position_of(s, s.whole_tiles + tile);
  return {{at.m, at.n, k_begin, k_end, whole ? -1 : slot_of(cta, k_begin)},
          true,
          s.whole_tiles,
          unit + (k_end - k_begin),
          run_end};
}

constexpr Work first_of_run(const StreamK& s, int cta) {
  if (s.cut_tiles() == 0 || cta >= s.runs) return {};
  return part_of_run(s, cta, run_begin(s, cta), run_begin(s, cta + 1));
}

}  // namespace detail

constexpr Work first(const StreamK& s, int cta) {
  return cta < s.whole_tiles ? detail::whole_tile(s, cta) : detail::first_of_run(s, cta);
}

constexpr Work next(const StreamK& s, int cta, const Work& work) {
  if (work.next_tile < s.whole_tiles) return detail::whole_tile(s, work.next_tile);
  if (work.run_end == 0) return detail::first_of_run(s, cta);
  return detail::part_of_run(s, cta, work.unit, work.run_end);
}

// The runs that hold a part of cut tile number `cut` (0: tile whole_tiles), for the launch that
// adds them in ascending k.
struct Parts {
  int first, last;  // runs, both included; equal: the tile is whole in one run, nothing to add

  // Only the first part begins its tile.
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

constexpr Parts parts_of(const StreamK& s, int cut) {
  const long long begin = static_cast<long long>(cut) * s.k_tiles;
  return {detail::run_at(s, begin), detail::run_at(s, begin + s.k_tiles - 1)};
}

}  // namespace tessera::scheduler
