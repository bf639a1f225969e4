// Stores alpha * sum + beta * C, with several loads of C in flight. WHY: D may be C, so the
// compiler moves no load above a store. With one load at a time, a warp waits for memory at each
// store.
#pragma once

#include <algorithm>

#include "kernels/epilogue/output.h"
#include "kernels/tile/thread_accumulators.h"

namespace tessera::epilogue {

// Returns scaled + beta * c. WHY fma: whichever way an element is stored, it has the same bits.
template <class T>
__device__ T with_c(const Output<T, T>& output, T scaled, T c) {
  return fma(output.beta, c, scaled);
}

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
    for_group([&](int row, int col, const auto&, auto& c) {
      c = *reinterpret_cast<const tile::Vec4<T>*>(output.c + row * output.c_row + col);
    });
    for_group([&](int row, int col, const auto& sum, const auto& c) {
      const T alpha = output.alpha;
      tile::store_vec4(output.d + row * output.d_row + col,
                       {with_c(output, alpha * sum.x, c.x), with_c(output, alpha * sum.y, c.y),
                        with_c(output, alpha * sum.z, c.z), with_c(output, alpha * sum.w, c.w)});
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
  const auto is_inside = [&](tile::Coord<> at) { return at.m < output.rows && at.n < output.cols; };
  constexpr int kGroup = std::min(count, 16);
  static_assert(count % kGroup == 0);
#pragma unroll
  for (int first = 0; first < count; first += kGroup) {
    T old[kGroup];
#pragma unroll
    for (int i = 0; i < kGroup; ++i) {
      const tile::Coord<> at = place(first + i);
      old[i] = is_inside(at) ? output.c[at.m * output.c_row + at.n] : T{};
    }
#pragma unroll
    for (int i = 0; i < kGroup; ++i) {
      const tile::Coord<> at = place(first + i);
      if (!is_inside(at)) continue;
      output.d[at.m * output.d_row + at.n] = with_c(output, scaled[first + i], old[i]);
    }
  }
}

}  // namespace tessera::epilogue
