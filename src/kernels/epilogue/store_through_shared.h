// Stores a warp's sums from registers to D, four elements at a time. If alignment or the edge of D
// prevents that, a few rows at a time go through shared memory, from where neighbouring lanes store
// neighbouring elements, one by one.
//
// HW: if D is larger than L2, a scratch tile in global memory (store_staged.h) is also written to
// device memory. 50257x1024x768 NN takes 1542 us on an H200, and simt_f32, which has scratch
// tiles, 1659 (results/variants/fp32_direct_odd.json).
#pragma once

#include "kernels/epilogue/store_over_c.h"

namespace tessera::epilogue {

// The shared memory of one warp: the rows that its lanes store at a time, with all their columns.
template <class Accumulators>
struct RowsOfVectors {
  static constexpr int kRows = Accumulators::kLanes.m * tile::kVector;
  static constexpr int kCols = Accumulators::kWarp.n;

  alignas(16) typename Accumulators::Element at[kRows * kCols];
};

// Copies rows from shared memory to D. `output` begins at the first of the rows.
template <class Rows, class T>
__device__ void store_rows(const Rows& rows, const Output<T, T>& output) {
  constexpr int kBatch = 8, kSteps = Rows::kRows * Rows::kCols / 32;
  static_assert(kSteps % kBatch == 0);
  const int lane = threadIdx.x % 32;
#pragma unroll 1
  for (int step = 0; step < kSteps; step += kBatch) {
    const auto at = [&](int i) { return (step + i) * 32 + lane; };
    T x[kBatch];
#pragma unroll
    for (int i = 0; i < kBatch; ++i) x[i] = rows.at[at(i)];
    store_elements(output, x, [&](int i) {
      return tile::Coord<>{at(i) / Rows::kCols, at(i) % Rows::kCols};
    });
  }
}

// Stores a thread's accumulators. `output` begins at the block's tile, `warp` is the warp's
// coordinate in the block, `own` the warp's shared memory. All lanes of a warp call it.
template <OutputTile block, class T, class Accumulators>
__device__ void store_through_shared(const Output<T, T>& output, RowsOfVectors<Accumulators>& own,
                                     tile::Coord<> warp, tile::Coord<> lane,
                                     const Accumulators& accumulators) {
  constexpr OutputTile kLanes = Accumulators::kLanes, kThread = Accumulators::kThread;
  const Output<T, T> to =
      output.from(warp.m * Accumulators::kWarp.m, warp.n * Accumulators::kWarp.n);
  const bool direct = output.vectors && output.rows >= block.m && output.cols >= block.n;
  if (direct) {
    Output<T, T> first = to.from(lane.m * tile::kVector, lane.n * tile::kVector);
    if (first.beta != 0) return store_over_c<Accumulators::kAllRows>(first, accumulators);
    first.beta = 0;
    accumulators.template for_each_vec4<Accumulators::kAllRows>(
        {0, 0}, [&](int i, int j, auto vec4) { first.store_vec4_inside(i, j, vec4); });
    return;
  }
  T* const at = own.at + lane.m * tile::kVector * Accumulators::kWarp.n + lane.n * tile::kVector;
#pragma unroll
  for (int first = 0; first < kThread.m; first += tile::kVector) {
    __syncwarp();  // all lanes have read the previous rows
#pragma unroll
    for (int i = 0; i < tile::kVector; ++i) {
#pragma unroll
      for (int j = 0; j < kThread.n; j += tile::kVector) {
        const auto& sum = accumulators.sum[first + i];
        *reinterpret_cast<tile::Vec4<T>*>(at + i * Accumulators::kWarp.n + j * kLanes.n) = {
            output.alpha * sum[j], output.alpha * sum[j + 1], output.alpha * sum[j + 2],
            output.alpha * sum[j + 3]};
      }
    }
    __syncwarp();
    store_rows(own, to.from(first * kLanes.m, 0));
  }
}

}  // namespace tessera::epilogue
