// The inner loop of FP32 kernels: nothing but LDS.128 and FFMA. Tiles stand in shared memory as
// (k, m) and (k, n).
//
// A quarter of A (4 values) meets all of B's fragment, so that 32 or 64 FFMAs hide each load, and
// few registers hold fragments: some quarters of A in flight, two sets of B.
// TRIED (256x128, 16x8 a thread, H200, full waves; TFLOP/s): rows there and back as here 57.9, all
// rows one way 55.7, 2x2 blocks 55.3 (ptxas reorders them), columns 53.5; 8 quarters of A in flight
// 55.7, 4 57.9, 2 58.2; B fetched 4 steps ahead 57.1.
#pragma once

#include <cstdint>

#include "kernels/ptx/shared_load.h"
#include "kernels/tile/lanes.h"

namespace tessera::tile {

// `cfg` names the shapes: thread {m, n}, lanes {m, n}, depth() (steps in k of one pass), pitch_a(),
// pitch_b() (floats between neighbours in k).
template <auto cfg>
struct Multiplier {
  static constexpr int kDepth = cfg.depth();
  static constexpr int kRows = cfg.thread.m, kCols = cfg.thread.n;
  static constexpr int kQuartersA = kRows / kVector, kQuartersB = kCols / kVector;
  // Quarters of A. One ahead is enough where it hides behind 64 issue slots of two warps.
  static constexpr int kInFlight = kRows >= 16 ? 2 : 4;
  static constexpr int kAhead = kInFlight - 1;
  static constexpr int kQuarters = kDepth * kQuartersA;  // of A, of one pass

  // Shared addresses of this lane's first quarters of a pass.
  struct Place {
    std::uint32_t a, b;
  };

  float sum[kRows][kCols];
  float a[kInFlight][kVector];
  float b[2][kQuartersB][kVector];

  // Quarter `number` of the pass at `place`, counted k by k.
  template <int number>
  __device__ void load_a(Place place) {
    constexpr int k = number / kQuartersA, quarter = number % kQuartersA;
    ptx::load_shared<4 * (k * cfg.pitch_a() + quarter * cfg.lanes.m * kVector)>(
        a[number % kInFlight], place.a);
  }
  template <int k, int quarter>
  __device__ void load_b(Place place) {
    ptx::load_shared<4 * (k * cfg.pitch_b() + quarter * cfg.lanes.n * kVector)>(b[k % 2][quarter],
                                                                                place.b);
  }
  // All of a step.
  template <int k, int quarter = 0>
  __device__ void load_all_b(Place place) {
    load_b<k, quarter>(place);
    if constexpr (quarter + 1 < kQuartersB) load_all_b<k, quarter + 1>(place);
  }
  // A quarter of B's next step beside each few of A: loads that stand apart do not wait for each
  // other.
  template <int k, int quarter_a, int quarter = 0>
  __device__ void load_share_of_b(Place now, Place next) {
    if constexpr (quarter * kQuartersA / kQuartersB == quarter_a) {
      if constexpr (k < kDepth) load_b<k, quarter>(now);
      if constexpr (k == kDepth) load_b<0, quarter>(next);
    }
    if constexpr (quarter + 1 < kQuartersB) load_share_of_b<k, quarter_a, quarter + 1>(now, next);
  }

  template <int number>
  __device__ void load_first_of_a(Place place) {
    load_a<number>(place);
    if constexpr (number + 1 < kAhead) load_first_of_a<number + 1>(place);
  }

  // What must be there before the first pass.
  __device__ void load_first(Place place) {
    load_all_b<0>(place);
    load_first_of_a<0>(place);
  }

  __device__ void clear() {
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
#pragma unroll
      for (int j = 0; j < kCols; ++j) sum[i][j] = 0;
    }
  }

  // One row of A's quarter against B's fragment, there and back: neighbours share an operand.
  __device__ void multiply_row(int row, float value, const float (&columns)[kQuartersB][kVector]) {
#pragma unroll
    for (int t = 0; t < kCols; ++t) {
      const int j = row % 2 == 0 ? t : kCols - 1 - t;
      sum[row][j] += value * columns[j / kVector][j % kVector];
    }
  }

  // Quarters `number` to `end` of the pass at `now`, while the next ones are fetched; behind the
  // last step stands the first one of `next`.
  template <int number, int end>
  __device__ void multiply(Place now, Place next) {
    if constexpr (number < end) {
      constexpr int k = number / kQuartersA, quarter = number % kQuartersA;
      constexpr int coming = number + kAhead;
      load_share_of_b<k + 1, quarter>(now, next);
      if constexpr (coming < kQuarters) load_a<coming>(now);
      if constexpr (coming >= kQuarters) load_a<coming - kQuarters>(next);
#pragma unroll
      for (int i = 0; i < kVector; ++i) {
        multiply_row(quarter * kVector + i, a[number % kInFlight][i], b[k % 2]);
      }
      multiply<number + 1, end>(now, next);
    }
  }
};

}  // namespace tessera::tile
