// Which schedule for which problem: whole tiles alone (data-parallel), some tiles split
// (stream-K), or every tile split into equally many runs (split-K, a special case of stream-K).
// Splitting fills the last wave, but its partials must be written, read again and added by a second
// launch. A model decides, in clock cycles of one SM. Host code.
#pragma once

#include <initializer_list>

#include "base/config.h"
#include "base/divide.h"
#include "kernels/schedule/stream_k.h"

namespace tessera::schedule {

// The costs of the steps of a product on one GPU, in cycles. gemm/cost/cost.h says where a kernel's
// numbers come from.
struct TileCosts {
  int ctas_per_sm;     // CTAs per SM
  double start;        // until the first tile of a CTA has arrived
  double k_tile;       // one k tile of one CTA while all resident CTAs load and multiply
  double store;        // the end of a work item, minus what other resident CTAs multiply meanwhile
  double memory;       // operands and D through device memory, once
  double add;          // the second launch, with its memory latency
  double add_partial;  // reading one partial again, by the whole GPU
  // (1 + alone) / (ctas_per_sm + alone): time of a CTA that has an SM for itself
  double alone = 0.85;
  // Device memory for one k tile of both operands, for one of a tile's own rows and columns, and
  // for as much as the L2 holds.
  double slab = 0, tile_slab = 0, held = 0;
};

// A CTA that is alone on its SM is not `ctas_per_sm` times as fast: four warps do not fill the SM.
constexpr double slowdown(const TileCosts& costs, long long ctas, long long sms) {
  const double together = static_cast<double>((ctas + sms - 1) / sms);
  return (together + costs.alone) / (costs.ctas_per_sm + costs.alone);
}

// Rows of tiles that are walked together, so that the tiles in flight are about a square.
inline constexpr int kGroup = 8;
// Both in k tiles. A shorter run would only fill the pipeline. A run that would end closer than
// kSnap to the end of a tile is moved there: the split would not be worth its partial.
inline constexpr int kShortestRun = 4;
inline constexpr int kSnap = 1;

// No more tiles than this, so that tile numbers and the steps between them are ints.
inline constexpr long long kMaxTiles = 1 << 30;

// `count`: the number of products.
constexpr bool fits_schedule(long long m, long long n, long long k, BlockTile block,
                             long long count = 1) {
  const long long tiles_m = ceil_div(m, block.m), tiles_n = ceil_div(n, block.n);
  return tiles_m <= kMaxTiles && tiles_n <= kMaxTiles && tiles_m * tiles_n <= kMaxTiles &&
         ceil_div(k, block.k) <= kMaxTiles && count <= kMaxTiles &&
         tiles_m * tiles_n * count <= kMaxTiles;
}

// The schedule with every tile whole.
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
          .snap = 0,
          .run_length = 0,
          .longer_runs = 0};
}

// The tiles after `whole_tiles` are split in `runs`; all are whole where no kernel can walk that.
constexpr StreamK with_split(const StreamK& whole, long long whole_tiles, int runs, int ctas) {
  const bool is_legal = whole_tiles >= 0 && whole_tiles < whole.tiles() &&
                        whole_tiles % ctas == 0 && runs > 0 && runs <= ctas &&
                        runs <= (whole.tiles() - whole_tiles) * whole.k_tiles;
  if (!is_legal) return whole;
  StreamK s = with_runs(whole, static_cast<int>(whole_tiles), runs, kSnap);
  s.ctas = ctas;
  return s;
}

// Predicted cycles of a product. The next item's tiles are fetched while an item ends, so only the
// first one waits for them.
struct Cycles {
  double start, multiply, store, memory, add;

  constexpr bool memory_bound() const { return memory > multiply + store; }
  constexpr double total() const {
    return start + (memory_bound() ? memory : multiply + store) + add;
  }
};

// Cycles of device memory for what runs of tails read again, because they are at different k: of
// what the L2 cannot hold, each tile's own rows and columns.
constexpr double read_again(const StreamK& s, const TileCosts& costs) {
  if (s.tail_runs() == 0) return 0;
  const double once = s.tail() * costs.slab;
  const double more = static_cast<double>(s.split_tiles()) * s.tail() * costs.tile_slab - once;
  if (more <= 0) return 0;
  const double held = costs.held / once;
  return more / (1 + held * held * held);
}

// The cycles from the start of the first CTA to the end of the last, with room for `ctas`.
constexpr Cycles predicted(const StreamK& s, int ctas, const TileCosts& costs) {
  const int sms = ctas / costs.ctas_per_sm;
  const int waves = s.whole_tiles / ctas, rest = s.whole_tiles % ctas;
  const double whole_waves = waves + (rest > 0 ? slowdown(costs, rest, sms) : 0);
  Cycles c{.start = costs.start,
           .multiply = whole_waves * s.k_tiles * costs.k_tile,
           // In the last wave, no other CTA multiplies while one stores.
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

// The schedule that the model expects to be fastest for m x n x k on `ctas` resident CTAs. Expects
// fits_schedule().
constexpr StreamK choose_stream_k(long long m, long long n, long long k, BlockTile block, int ctas,
                                  const TileCosts& costs) {
  const StreamK whole = data_parallel(m, n, k, block, ctas);
  StreamK best = whole;
  if (whole.tiles() % ctas == 0 || whole.k_tiles < 2 * kShortestRun) return best;
  double best_cycles = predicted(best, ctas, costs).total();
  const int full = whole.tiles() / ctas * ctas;
  for (const int kept : {full, full - ctas}) {
    if (kept < 0) continue;
    const int split = whole.tiles() - kept;
    const long long most = static_cast<long long>(split) * whole.k_tiles / kShortestRun;
    const int runs = most < ctas ? static_cast<int>(most) : ctas;
    // Candidates: as many runs as fit; the same, rounded so that no run spans two tiles; one run
    // per SM; that, rounded likewise.
    const int alone = ctas / costs.ctas_per_sm;
    for (const int candidate : {runs, runs / split * split, alone < runs ? alone : runs,
                                (alone < runs ? alone : runs) / split * split}) {
      if (candidate == 0 || (candidate <= split && candidate < alone)) continue;  // idle GPU
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

// Splits every tile of the last wave, whether the wave is full or not: for tests, and to measure
// splits that the model would not choose.
constexpr StreamK split_last_wave(long long m, long long n, long long k, BlockTile block,
                                  int ctas) {
  const StreamK whole = data_parallel(m, n, k, block, ctas);
  const int kept = (whole.tiles() - 1) / ctas * ctas;
  const long long units = static_cast<long long>(whole.tiles() - kept) * whole.k_tiles;
  if (units == 0) return whole;
  return with_split(whole, kept, units < ctas ? static_cast<int>(units) : ctas, ctas);
}

}  // namespace tessera::schedule
