// From the registers of a warp to D, four elements at a time. Where those would miss their
// alignment or cross the edge, the tile goes to a scratch tile in global memory first, and from
// there element by element, neighbouring lanes storing neighbours: a warp that holds no sums in
// registers can wait for memory.
//
// TRIED: element by element from the accumulators, which is slower than by vectors, since lanes
// that are neighbours do not store neighbours.
//
// TRIED: through shared memory, row by row. The store was faster, but the inner loop of 256x128 was
// slower, because ptxas gave it other registers.
#pragma once

#include <algorithm>

#include "kernels/epilogue/output.h"
#include "kernels/tile/thread_accumulators.h"

namespace tessera::epilogue {

// A tile for a block's sums before they reach `output`: scaled, but no more.
template <class T>
__device__ Output<T, T> scratch_tile(const Output<T, T>& output, T* scratch, OutputTile block) {
  return {.c = nullptr,
          .d = scratch,
          .c_row = 0,
          .d_row = block.n,
          .rows = block.m,
          .cols = block.n,
          .alpha = output.alpha,
          .beta = 0,
          .vectors = true};
}

// From scratch to D; both begin at the warp's tile. WHY in batches: to the compiler any store could
// change what is loaded next, so loads are in flight together only if no store is between them.
template <class Accumulators, tile::Rows rows, class T>
__device__ void store_from(const Output<T, T>& scratch, const Output<T, T>& output) {
  constexpr OutputTile lanes = Accumulators::kLanes, thread = Accumulators::kThread;
  constexpr int kCols = lanes.n * thread.n, kRows = lanes.m * rows.count;
  constexpr int kEach = kRows * kCols / 32;  // of a lane
  constexpr int kBatch = std::min(kEach, thread.m * thread.n / 4);
  static_assert(kEach % kBatch == 0);
  const auto row_of = [&](int at) {
    const int row = at / kCols;
    return tile::element_of(lanes.m, row % lanes.m, rows.first + row / lanes.m);
  };
#pragma unroll 1
  for (int begin = threadIdx.x % 32; begin < kRows * kCols; begin += 32 * kBatch) {
    T x[kBatch];
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      const int at = begin + 32 * i;
      x[i] = scratch.d[row_of(at) * scratch.d_row + at % kCols];
    }
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      const int at = begin + 32 * i;
      output.store_scaled(row_of(at), at % kCols, x[i]);
    }
  }
}

// Stores `rows` of a thread's accumulators. `output` begins at the block's tile, `warp` is the
// warp's coordinate in it; `scratch` has room for the tile. All lanes of a warp call it.
template <OutputTile block, tile::Rows rows, class T, class Accumulators>
__device__ void store_staged(const Output<T, T>& output, T* scratch, tile::Coord<> warp,
                             tile::Coord<> lane, const Accumulators& accumulators) {
  const int row = warp.m * Accumulators::kWarp.m, col = warp.n * Accumulators::kWarp.n;
  const bool direct = output.vectors && output.rows >= block.m && output.cols >= block.n;
  const Output<T, T> staged = scratch_tile(output, scratch, block);
  // WHY one call for both paths: two would give the inner loop other registers.
  const Output<T, T> target = direct ? output : staged;
  if (!direct) __syncwarp();  // no lane reads scratch any more
  const Output<T, T> own = target.from(row + lane.m * tile::kVector, col + lane.n * tile::kVector);
  accumulators.template for_each_vec4<rows>(
      {0, 0}, [&](int i, int j, auto vec4) { own.store_vec4_inside(i, j, vec4); });
  if (direct) return;
  __syncwarp();
  store_from<Accumulators, rows>(staged.from(row, col), output.from(row, col));
}

}  // namespace tessera::epilogue
