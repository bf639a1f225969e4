// Stores a warp's sums from registers to D, four elements at a time. If alignment or the edge of D
// prevents that, the tile is stored to a scratch tile in global memory first, and copied from there
// element by element, with neighbouring lanes on neighbouring elements. The copy holds no sums in
// registers, so it can have many loads in flight.
//
// TRIED: element by element from the accumulators: slower, because neighbouring lanes do not have
// neighbouring elements.
//
// TRIED: through shared memory, row by row. The store was faster, but the inner loop of 256x128 was
// slower, because ptxas allocated other registers.
#pragma once

#include <algorithm>

#include "kernels/epilogue/store_over_c.h"

namespace tessera::epilogue {

// The scratch tile of a block, which holds sums multiplied by alpha, without C.
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

// Copies from scratch to D; both begin at the warp's tile. WHY batches: for the compiler any store
// may change later loads, so only loads without a store between them are in flight together.
template <class Accumulators, tile::Rows rows, class T>
__device__ void store_from(const Output<T, T>& scratch, const Output<T, T>& output) {
  constexpr OutputTile lanes = Accumulators::kLanes, thread = Accumulators::kThread;
  constexpr int kCols = lanes.n * thread.n, kRows = lanes.m * rows.count;
  constexpr int kEach = kRows * kCols / 32;  // elements per lane
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
    store_elements(output, x, [&](int i) {
      const int at = begin + 32 * i;
      return tile::Coord<>{row_of(at), at % kCols};
    });
  }
}

// Stores `rows` of a thread's accumulators. `output` begins at the block's tile, `warp` is the
// warp's coordinate in the block; `scratch` has room for the tile. All lanes of a warp call it.
template <OutputTile block, tile::Rows rows, class T, class Accumulators>
__device__ void store_staged(const Output<T, T>& output, T* scratch, tile::Coord<> warp,
                             tile::Coord<> lane, const Accumulators& accumulators) {
  const int row = warp.m * Accumulators::kWarp.m, col = warp.n * Accumulators::kWarp.n;
  const bool direct = output.vectors && output.rows >= block.m && output.cols >= block.n;
  const Output<T, T> staged = scratch_tile(output, scratch, block);
  // WHY one call for both: with two, ptxas would give the inner loop other registers. The call with
  // C does so, too, but these are as good: `tessera sass` counts as many clashes of 256x128.
  const Output<T, T> target = direct ? output : staged;
  if (!direct) __syncwarp();  // all lanes have read the scratch tile
  Output<T, T> own = target.from(row + lane.m * tile::kVector, col + lane.n * tile::kVector);
  if (own.beta != 0) return store_over_c<rows>(own, accumulators);
  own.beta = 0;
  accumulators.template for_each_vec4<rows>(
      {0, 0}, [&](int i, int j, auto vec4) { own.store_vec4_inside(i, j, vec4); });
  if (direct) return;
  __syncwarp();
  store_from<Accumulators, rows>(staged.from(row, col), output.from(row, col));
}

}  // namespace tessera::epilogue
