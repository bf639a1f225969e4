// The inner loop of FP32 kernels: only LDS.128 and FFMA. Shared tiles are (k, m) and (k, n).
//
// A vector of A (4 values) is multiplied by all of B's fragment, so that 32 or 64 FFMAs hide each
// load. Fragments take few registers: some vectors of A in flight, and two sets of B.
// TRIED (256x128, 16x8 per thread, H200, full waves), fastest first. Order of FFMAs: rows in
// alternating direction as here, rows in one direction, 2x2 blocks (ptxas reorders them), columns.
// Vectors of A in flight: 2, 4, 8. B loaded 4 steps ahead is slower.
#pragma once

#include <cstdint>

#include "kernels/ptx/shared_load.h"
#include "kernels/tile/thread_accumulators.h"

namespace tessera::mainloop {

// Fragments and sums of one thread. `cfg` has the shapes: thread {m, n}, lanes {m, n}, depth() (k
// steps of one pass), pitch_a(), pitch_b() (floats from one k to the next).
template <auto cfg>
struct FfmaSteps {
  static constexpr int kDepth = cfg.depth();
  static constexpr int kRows = cfg.thread.m, kCols = cfg.thread.n, kVector = tile::kVector;
  static constexpr int kVectorsA = kRows / kVector, kVectorsB = kCols / kVector;
  // Vectors of A in registers. Two are enough if 64 issue slots, those of two warps, hide a load.
  static constexpr int kInFlight = kRows >= 16 ? 2 : 4;
  static constexpr int kAhead = kInFlight - 1;
  static constexpr int kVectors = kDepth * kVectorsA;  // vectors of A per pass

  // The addresses in shared memory of this lane's first vectors in a pass.
  struct Addresses {
    std::uint32_t a, b;
  };

  tile::ThreadAccumulators<float, cfg.lanes, cfg.thread> accumulators;
  float a[kInFlight][kVector];
  float b[2][kVectorsB][kVector];

  // Loads vector `number` of A in the pass at `from`: all vectors of k = 0, then of k = 1, ...
  template <int number>
  __device__ void load_a(Addresses from) {
    constexpr int k = number / kVectorsA, vector = number % kVectorsA;
    ptx::load_shared<4 * (k * cfg.pitch_a() + vector * cfg.lanes.m * kVector)>(
        a[number % kInFlight], from.a);
  }
  template <int k, int vector>
  __device__ void load_b(Addresses from) {
    ptx::load_shared<4 * (k * cfg.pitch_b() + vector * cfg.lanes.n * kVector)>(b[k % 2][vector],
                                                                               from.b);
  }
  // Loads all vectors of B of step `k`.
  template <int k, int vector = 0>
  __device__ void load_all_b(Addresses from) {
    load_b<k, vector>(from);
    if constexpr (vector + 1 < kVectorsB) load_all_b<k, vector + 1>(from);
  }
  // Loads one vector of B's next step after every few vectors of A. WHY: loads that are spread out
  // do not wait for each other.
  template <int k, int vector_a, int vector = 0>
  __device__ void load_share_of_b(Addresses now, Addresses next) {
    if constexpr (vector * kVectorsA / kVectorsB == vector_a) {
      if constexpr (k < kDepth) load_b<k, vector>(now);
      if constexpr (k == kDepth) load_b<0, vector>(next);
    }
    if constexpr (vector + 1 < kVectorsB) load_share_of_b<k, vector_a, vector + 1>(now, next);
  }

  template <int number>
  __device__ void load_first_of_a(Addresses from) {
    load_a<number>(from);
    if constexpr (number + 1 < kAhead) load_first_of_a<number + 1>(from);
  }

  // Loads the fragments that must be in registers before the first pass.
  __device__ void load_first(Addresses from) {
    load_all_b<0>(from);
    load_first_of_a<0>(from);
  }

  // Multiplies a value of A by B's fragment. Odd rows go backwards, so neighbours share an operand.
  __device__ void multiply_row(int row, float value, const float (&columns)[kVectorsB][kVector]) {
#pragma unroll
    for (int t = 0; t < kCols; ++t) {
      const int j = row % 2 == 0 ? t : kCols - 1 - t;
      accumulators.sum[row][j] += value * columns[j / kVector][j % kVector];
    }
  }

  // Multiplies vectors `number` to `end` of A in the pass at `now`, while the next vectors are
  // loaded. After the last step of `now` comes the first step of `next`.
  template <int number, int end>
  __device__ void multiply(Addresses now, Addresses next) {
    if constexpr (number < end) {
      constexpr int k = number / kVectorsA, vector = number % kVectorsA;
      constexpr int coming = number + kAhead;
      load_share_of_b<k + 1, vector>(now, next);
      if constexpr (coming < kVectors) load_a<coming>(now);
      if constexpr (coming >= kVectors) load_a<coming - kVectors>(next);
#pragma unroll
      for (int i = 0; i < kVector; ++i) {
        multiply_row(vector * kVector + i, a[number % kInFlight][i], b[k % 2]);
      }
      multiply<number + 1, end>(now, next);
    }
  }
};

}  // namespace tessera::mainloop
