// Which schedule for which problem: whole tiles alone (data-parallel), some tiles cut (stream-K),
// or every tile cut alike (split-K, which is stream-K with a multiple of the tiles as runs).
// Cutting fills the last wave, and costs partial sums that are written, read again and added by a
// second launch. A model decides, in clock cycles of one multiprocessor. Host code.
#pragma once

#include <initializer_list>

#include "kernels/scheduler/stream_k.h"
#include "problem/config.h"

namespace tessera::scheduler {

// Cycles; constants of an H200 at 1.98 GHz (model, not fitted).
struct TileCosts {
  double k_tile;  // one k tile of one CTA while all resident CTAs multiply
  double item;    // begin and end of a work item: fill the pipeline, write the tile
  double add;     // read one partial tile back
  double launch;  // of the kernel that adds
};

constexpr TileCosts costs_of(BlockTile block, int resident, int bytes_an_element, int lanes) {
  const double outputs = static_cast<double>(block.m) * block.n * resident;
  // HW: an H200 copies at 4.27 TB/s, 16 bytes a cycle and multiprocessor (arch/gpus.h).
  const double tile_traffic = outputs * bytes_an_element / 16;
  return {.k_tile = outputs * block.k / lanes,
          .item = 1500 + tile_traffic,  // three times the latency of device memory
          .add = tile_traffic,
          .launch = 4000};  // 2 microseconds
}

// Walked together: about a square of tiles in flight.
inline constexpr int kGroup = 8;
// A run shorter than this is all pipeline fill; a cut closer than this to a tile's edge is not
// worth its partial sum.
inline constexpr int kShortestRun = 4;
inline constexpr int kSnap = 1;

constexpr long long pieces(long long extent, int block) {
  return extent / block + (extent % block != 0);
}

// No more tiles than this, so that tile numbers and the steps between them are ints.
inline constexpr long long kMaxTiles = 1 << 30;

constexpr bool fits_schedule(long long m, long long n, long long k, BlockTile block) {
  const long long tiles_m = pieces(m, block.m), tiles_n = pieces(n, block.n);
  return tiles_m <= kMaxTiles && tiles_n <= kMaxTiles && tiles_m * tiles_n <= kMaxTiles &&
         pieces(k, block.k) <= kMaxTiles;
}

// Every tile whole.
constexpr StreamK data_parallel(long long m, long long n, long long k, BlockTile block, int ctas) {
  const int tiles_m = static_cast<int>(pieces(m, block.m));
  const int tiles_n = static_cast<int>(pieces(n, block.n));
  return {.ctas = ctas < tiles_m * tiles_n ? ctas : tiles_m * tiles_n,
          .tiles_m = tiles_m,
          .tiles_n = tiles_n,
          .group = tiles_m < kGroup ? tiles_m : kGroup,
          .whole_tiles = tiles_m * tiles_n,
          .k_tiles = static_cast<int>(pieces(k, block.k)),
          .runs = 0,
          .snap = 0};
}

// The same with all but `whole_tiles` cut into `runs`.
constexpr StreamK with_runs(StreamK s, int whole_tiles, int runs, int ctas) {
  s.whole_tiles = whole_tiles;
  s.runs = runs;
  s.ctas = ctas;
  s.snap = s.k_tiles > 4 * kSnap ? kSnap : 0;
  return s;
}

// Predicted cycles from the start of the first CTA to the end of the last.
constexpr double predicted_cycles(const StreamK& s, const TileCosts& costs) {
  const long long waves = pieces(s.whole_tiles, s.ctas);
  const double whole = static_cast<double>(waves) * (s.k_tiles * costs.k_tile + costs.item);
  if (s.cut_tiles() == 0) return whole;
  const long long units = static_cast<long long>(s.cut_tiles()) * s.k_tiles;
  const bool split_k = s.runs % s.cut_tiles() == 0;
  const long long length = pieces(units, s.runs);
  const long long items = split_k ? 1 : pieces(length, s.k_tiles) + 1;
  const double parts = split_k ? s.runs : s.runs + s.cut_tiles();
  return whole + static_cast<double>(length) * costs.k_tile +
         static_cast<double>(items) * costs.item + costs.launch + parts / s.ctas * costs.add;
}

// The schedule that the model expects to be fastest for m x n x k on `ctas` resident CTAs. Expects
// fits_schedule().
constexpr StreamK choose_stream_k(long long m, long long n, long long k, BlockTile block, int ctas,
                                  const TileCosts& costs) {
  const StreamK whole = data_parallel(m, n, k, block, ctas);
  StreamK best = whole;
  if (whole.tiles() % ctas == 0 || whole.k_tiles < 2 * kShortestRun) return best;
  double best_cycles = predicted_cycles(best, costs);
  const int full = whole.tiles() / ctas * ctas;
  for (const int kept : {full, full - ctas}) {
    if (kept < 0) continue;
    const int cut = whole.tiles() - kept;
    const long long most = static_cast<long long>(cut) * whole.k_tiles / kShortestRun;
    const int runs = most < ctas ? static_cast<int>(most) : ctas;
    for (const int candidate : {runs, runs / cut * cut, runs / 2 / cut * cut}) {
      if (candidate <= cut && candidate != ctas) continue;  // nothing is cut, or the GPU is idle
      const StreamK s = with_runs(whole, kept, candidate, ctas);
      const double cycles = predicted_cycles(s, costs);
      if (cycles < best_cycles) {
        best = s;
        best_cycles = cycles;
      }
    }
  }
  return best;
}

// Every tile of the last wave cut, full or not: to test and to measure what the model would leave.
constexpr StreamK cut_last_wave(long long m, long long n, long long k, BlockTile block, int ctas) {
  const StreamK whole = data_parallel(m, n, k, block, ctas);
  const int kept = (whole.tiles() - 1) / ctas * ctas;
  const long long units = static_cast<long long>(whole.tiles() - kept) * whole.k_tiles;
  if (units == 0) return whole;
  return with_runs(whole, kept, units < ctas ? static_cast<int>(units) : ctas, ctas);
}

}  // namespace tessera::scheduler
