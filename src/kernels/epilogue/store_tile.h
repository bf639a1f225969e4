// From the registers of a warp to D, in 128-bit strips. Where those would miss their alignment or
// reach over the edge, the tile goes to a scratch tile in memory first, and from there element by
// element, neighbouring lanes storing neighbours: what holds no sums in registers can wait for
// memory.
//
// HW: stored element by element from where they stand, the sums of 2048 x 2048 on an H200 took
// 17 us longer than by strips.
//
// TRIED: by way of shared memory, row by row. It took 5 us, and the inner loop of 256x128 lost 3 %,
// because ptxas gave it other registers.
#pragma once

#include <algorithm>

#include "kernels/epilogue/output.h"

namespace tessera::epilogue {

// From scratch to D. Both begin at the warp's tile. WHY in batches: to the compiler any store could
// change what is loaded next, so loads are in flight together only if no store stands between them.
template <auto cfg, Rows rows, class Finish>
__device__ void store_from(const Output<Finish>& scratch, const Output<Finish>& output) {
  constexpr int kCols = cfg.lanes.n * cfg.thread.n, kRows = cfg.lanes.m * rows.count;
  constexpr int kEach = kRows * kCols / 32;  // of a lane
  constexpr int kBatch = std::min(kEach, cfg.thread.m * cfg.thread.n / 4);
  static_assert(kEach % kBatch == 0);
  const auto row_of = [&](int at) {
    const int row = at / kCols;
    return tile::element_of(cfg.lanes.m, row % cfg.lanes.m, rows.first + row / cfg.lanes.m);
  };
#pragma unroll 1
  for (int begin = threadIdx.x % 32; begin < kRows * kCols; begin += 32 * kBatch) {
    float x[kBatch];
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

// Rows of a thread's sums, placed as tile/lanes.h says. `output` begins at the block's tile and
// `warp` is the warp's place in it; `scratch` has room for the tile. All lanes of a warp call it.
template <auto cfg, Rows rows, class Finish>
__device__ void store_tile(const Output<Finish>& output, float* scratch, OutputTile warp,
                           tile::LanePlace lane, const float (&sum)[cfg.thread.m][cfg.thread.n]) {
  const int row = warp.m * (cfg.block.m / cfg.warps.m), col = warp.n * (cfg.block.n / cfg.warps.n);
  const bool by_strips = output.strips && output.rows >= cfg.block.m && output.cols >= cfg.block.n;
  const Output<Finish> on_the_way = scratch_tile(output, scratch, cfg.block.m, cfg.block.n);
  // WHY one call for both ways: two would give the inner loop other registers.
  const Output<Finish> target = by_strips ? output : on_the_way;
  if (!by_strips) __syncwarp();  // nobody reads scratch any more
  const Output<Finish> own =
      target.from(row + lane.m * tile::kVector, col + lane.n * tile::kVector);
  for_each_strip<cfg, rows>({0, 0}, sum,
                            [&](int i, int j, float4 strip) { own.store_inside(i, j, strip); });
  if (by_strips) return;
  __syncwarp();
  store_from<cfg, rows>(on_the_way.from(row, col), output.from(row, col));
}

}  // namespace tessera::epilogue
