// Chooses the schedule of a product: all tiles whole (data-parallel), some tiles split along k
// (stream-K), or every tile split into equally many runs (split-K, a special case of stream-K).
// Splitting fills the last wave, but partial sums must be written, then read again and added by a
// second launch. A model predicts the time of a schedule in clock cycles of one SM. Host code.
#pragma once

#include <initializer_list>

#include "base/config.h"
#include "base/divide.h"
#include "kernels/schedule/stream_k.h"

namespace tessera::schedule {

// The costs of the steps of a product on one GPU, in clock cycles. gemm/cost/persistent.cpp
// computes them from the coefficients of the GPU.
struct TileCosts {
  int ctas_per_sm;     // resident CTAs per SM
  double start;        // until a CTA's first tiles of A and B have arrived
  double k_tile;       // a CTA's time for one k tile while all CTAs of its SM are busy
  double store;        // the end of a work item, minus the time that other CTAs multiply meanwhile
  double memory;       // device memory: A, B and C are read once, D is written
  double add;          // the second launch, including memory latency
  double add_partial;  // all SMs read the partial sums of one tile again
  // A CTA alone on an SM takes (1 + alone) / (ctas_per_sm + alone) of its time on a full SM.
  double alone = 0.85;
  // Cycles in which device memory reads: one k tile of all rows of A and columns of B (slab); one k
  // tile of the rows and columns of one output tile (tile_slab); as many bytes as L2 holds (held).
  double slab = 0, tile_slab = 0, held = 0;
};

// Time of a CTA if only `ctas` CTAs run, relative to full SMs. A CTA alone cannot fill its SM.
constexpr double slowdown(const TileCosts& costs, long long ctas, long long sms) {
  const double together = static_cast<double>((ctas + sms - 1) / sms);
  return (together + costs.alone) / (costs.ctas_per_sm + costs.alone);
}

// Rows of tiles in a group of raster(), so that tiles in flight form about a square of D.
inline constexpr int kGroup = 8;
// Lengths in k tiles. A run shorter than kShortestRun would only fill the pipeline. If a run would
// end within kSnap of a tile's edge, it ends at the edge: the rest is not worth a partial sum.
inline constexpr int kShortestRun = 4;
inline constexpr int kSnap = 1;
// The share of time that splitting a wave more may take. HW: two waves of tails, 0.1 % shorter by
// the model, take 1 % longer at 4096 in FP32 and 1 to 2 % in FP64 (H200,
// results/tune/h200_two_waves.json): all their runs are at different k.
inline constexpr double kOfAnotherWave = 0.99;

// The most tiles of a schedule, so that tile numbers and differences of tile numbers fit an int.
inline constexpr long long kMaxTiles = 1 << 30;

// Whether a schedule can have all tiles of `count` products of m x n x k.
constexpr bool fits_schedule(long long m, long long n, long long k, BlockTile block,
                             long long count = 1) {
  const long long tiles_m = ceil_div(m, block.m), tiles_n = ceil_div(n, block.n);
  return tiles_m <= kMaxTiles && tiles_n <= kMaxTiles && tiles_m * tiles_n <= kMaxTiles &&
         ceil_div(k, block.k) <= kMaxTiles && count <= kMaxTiles &&
         tiles_m * tiles_n * count <= kMaxTiles;
}

// The schedule for m x n x k on at most `ctas` CTAs that splits no tile.
constexpr StreamK data_parallel(long long m, long long n, long long k, BlockTile block, int ctas) {
  const int tiles_m = static_cast<int>(ceil_div(m, block.m));
  const int tiles_n = static_cast<int>(ceil_div(n, block.n));
  return {.ctas = ctas < tiles_m * tiles_n ? ctas : tiles_m * tiles_n,
          .tiles_m = tiles_m,
          .tiles_n = tiles_n,
          .group = tiles_m < kGroup ? tiles_m : kGroup,
          .whole_tiles = tiles_m * tiles_n,
          .k_tiles = static_cast<int>(ceil_div(k, block.k)),
          .runs = 0,
          .parts = 0,
          .head = 0,
          .head_length = 0,
          .longer_heads = 0,
          .snap = 0,
          .run_length = 0,
          .longer_runs = 0};
}

// Splits the tiles after the first whole_tiles into at most `runs` runs; none if that is illegal,
// or if each tile would have one run.
constexpr StreamK with_split(const StreamK& whole, long long whole_tiles, int runs, int ctas) {
  const bool is_legal = whole_tiles >= 0 && whole_tiles < whole.tiles() &&
                        whole_tiles % ctas == 0 && runs > 0 && runs <= ctas &&
                        runs <= (whole.tiles() - whole_tiles) * whole.k_tiles;
  if (!is_legal) return whole;
  StreamK s = with_runs(whole, static_cast<int>(whole_tiles), runs, kSnap);
  if (s.split_tiles() == 0) return whole;
  s.ctas = ctas;
  return s;
}

// Predicted cycles of a product. While a work item ends, the operands of the next one are fetched,
// so only the first work item of a CTA waits for operands (start).
struct Cycles {
  double start, multiply, store, memory, add;

  constexpr bool memory_bound() const { return memory > multiply + store; }
  constexpr double total() const {
    return start + (memory_bound() ? memory : multiply + store) + add;
  }
};

// Cycles in which runs of tails (stream_k.h) read operands again from device memory. The runs are
// at different k, so each tile reads its own rows of A and columns of B, except for what L2 holds.
constexpr double read_again(const StreamK& s, const TileCosts& costs) {
  if (s.tail_runs() == 0) return 0;
  const double once = s.tail() * costs.slab;
  const double more = static_cast<double>(s.split_tiles()) * s.tail() * costs.tile_slab - once;
  if (more <= 0) return 0;
  const double held = costs.held / once;
  return more / (1 + held * held * held);
}

// Predicts the cycles from the first CTA's start to the last CTA's end; `ctas`: resident CTAs.
constexpr Cycles predicted(const StreamK& s, int ctas, const TileCosts& costs) {
  const int sms = ctas / costs.ctas_per_sm;
  const int waves = s.whole_tiles / ctas, rest = s.whole_tiles % ctas;
  const double whole_waves = waves + (rest > 0 ? slowdown(costs, rest, sms) : 0);
  Cycles c{.start = costs.start,
           .multiply = whole_waves * s.k_tiles * costs.k_tile,
           // In the last wave, no CTA multiplies while others store.
           .store = (waves + (rest > 0) + costs.ctas_per_sm - 1) * costs.store,
           .memory = costs.memory,
           .add = 0};
  if (s.split_tiles() == 0) return c;
  struct Run {
    double multiply, store;
  };
  const auto run_of = [&](long long k_tiles, long long ends) {
    return Run{static_cast<double>(k_tiles) * costs.k_tile * slowdown(costs, s.runs, sms),
               static_cast<double>(ends) * costs.store};
  };
  const long long of_tail = s.run_length + (s.longer_runs > 0 ? 1 : 0);
  const Run head = run_of(s.parts > 0 ? ceil_div(s.head, s.parts) : 0, 1);
  const Run tail = run_of(of_tail, s.tail_runs() > 0 ? ceil_div(of_tail, s.tail()) + 1 : 0);
  const bool head_is_last = head.multiply + head.store > tail.multiply + tail.store;
  const Run last = head_is_last ? head : tail;
  const long long partials = slots_of(s);
  c.memory += read_again(s, costs);
  c.multiply += last.multiply;
  c.store += last.store;
  c.add = costs.add + static_cast<double>(partials) * costs.add_partial;
  return c;
}

// The schedule with the shortest predicted time for m x n x k on `ctas` resident CTAs. Expects that
// fits_schedule() is true.
constexpr StreamK choose_stream_k(long long m, long long n, long long k, BlockTile block, int ctas,
                                  const TileCosts& costs) {
  const StreamK whole = data_parallel(m, n, k, block, ctas);
  StreamK best = whole;
  if (whole.tiles() % ctas == 0 || whole.k_tiles < 2 * kShortestRun) return best;
  double best_cycles = predicted(best, ctas, costs).total();
  const int full = whole.tiles() / ctas * ctas;
  for (const int kept : {full, full - ctas}) {
    if (kept < 0) continue;
    if (kept != full) best_cycles *= kOfAnotherWave;
    const int split = whole.tiles() - kept;
    const long long most = static_cast<long long>(split) * whole.k_tiles / kShortestRun;
    const int runs = most < ctas ? static_cast<int>(most) : ctas;
    // Candidates for the number of runs: as many as fit, one per SM, and each of these two rounded
    // down to a multiple of the split tiles, so that no run spans two tiles.
    const int alone = ctas / costs.ctas_per_sm;
    for (const int candidate : {runs, runs / split * split, alone < runs ? alone : runs,
                                (alone < runs ? alone : runs) / split * split}) {
      if (candidate == 0 || (candidate <= split && candidate < alone)) continue;  // idle SMs
      const StreamK s = with_split(whole, kept, candidate, ctas);
      const double cycles = predicted(s, ctas, costs).total();
      if (cycles < best_cycles) {
        best = s;
        best_cycles = cycles;
      }
    }
  }
  return best;
}

// Splits tiles of the last wave, even if the wave is full. For tests, and for measurements of
// splits that the model would not choose.
constexpr StreamK split_last_wave(long long m, long long n, long long k, BlockTile block,
                                  int ctas) {
  const StreamK whole = data_parallel(m, n, k, block, ctas);
  if (whole.k_tiles < 2) return whole;
  const int kept = (whole.tiles() - 1) / ctas * ctas;
  const long long units = static_cast<long long>(whole.tiles() - kept) * whole.k_tiles;
  const StreamK s = with_split(whole, kept, units < ctas ? static_cast<int>(units) : ctas, ctas);
  if (s.split_tiles() > 0) return s;
  const StreamK fewer = with_split(whole, kept, whole.tiles() - kept - 1, ctas);
  return slots_of(fewer) > 0 ? fewer : whole;
}

}  // namespace tessera::schedule
