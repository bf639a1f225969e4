// Stores alpha * sum + beta * C, with several loads of C in flight. WHY: D may be C, so the
// compiler moves no load above a store. With one load at a time, a warp waits for memory at each
// store.
#pragma once

#include <algorithm>

#include "kernels/epilogue/output.h"
#include "kernels/tile/thread_accumulators.h"

namespace tessera::epilogue {

// Stores `rows` of a thread's sums, four elements at a time. `output` begins at the lane's first
// output, allows vectors, and has all of the tile.
template <tile::Rows rows, class T, class Accumulators>
__device__ void store_over_c(const Output<T, T>& output, const Accumulators& accumulators) {
  constexpr int kVectors = rows.count * Accumulators::kThread.n / tile::kVector;
  constexpr int kGroup = std::min(kVectors, 8);
#pragma unroll
  for (int first = 0; first < kVectors; first += kGroup) {
    tile::Vec4<T> old[kGroup];
    const auto for_group = [&](auto visit) {
      int next = 0;
      accumulators.template for_each_vec4<rows>({0, 0}, [&](int row, int col, auto sum) {
        const int i = next++ - first;
        if (i >= 0 && i < kGroup) visit(row, col, sum, old[i]);
      });
    };
    for_group([&](int row, int col, const auto&, auto& c) { c = output.vec4_of_c(row, col); });
    for_group([&](int row, int col, const auto& sum, const auto& c) {
      output.store_vec4_with(row, col, sum, c);
    });
  }
}

// Stores elements that are multiplied by alpha, without those outside D. `place(i)` is the
// coordinate of element i.
template <int count, class T, class Place>
__device__ void store_elements(const Output<T, T>& output, const T (&scaled)[count], Place place) {
  if (output.beta == 0) {
#pragma unroll
    for (int i = 0; i < count; ++i) output.store_scaled(place(i).m, place(i).n, scaled[i]);
    return;
  }
  constexpr int kGroup = std::min(count, 16);
  static_assert(count % kGroup == 0);
#pragma unroll
  for (int first = 0; first < count; first += kGroup) {
    T old[kGroup];
#pragma unroll
    for (int i = 0; i < kGroup; ++i) {
      const tile::Coord<> at = place(first + i);
      old[i] = output.element_of_c(at.m, at.n);
    }
#pragma unroll
    for (int i = 0; i < kGroup; ++i) {
      const tile::Coord<> at = place(first + i);
      output.store_scaled_with(at.m, at.n, scaled[first + i], old[i]);
    }
  }
}

}  // namespace tessera::epilogue
