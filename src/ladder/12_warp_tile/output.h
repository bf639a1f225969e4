// The two stores of rung 12: each thread writes its own vectors, or the block rearranges its sums
// in shared memory, so that a warp writes whole rows of the block's tile.
#pragma once

#include "ladder/12_warp_tile/config.h"
#include "ladder/shared/vec4.h"

namespace tessera::warp_tile {

template <Config cfg>
__device__ void store_direct(const GemmParams& p, ladder::BlockOrigin origin, tile::Coord<> at,
                             const float (&sum)[8][8]) {
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const long long row = origin.row + at.m + tile::offset_of(i, cfg.warp.distance.m);
    const long long col = origin.col + at.n;
    ladder::store_vec4(p, row, col, sum[i]);
    ladder::store_vec4(p, row, col + cfg.warp.distance.n, sum[i] + tile::kSubtile);
  }
}

inline constexpr int kOutputRows = 32;  // rows of D that are in shared memory at a time

// Stores the sums in four passes. In each pass every thread contributes two rows of its subtiles.
template <Config cfg>
__device__ void store_staged(const GemmParams& p, ladder::BlockOrigin origin, tile::Coord<> at,
                             const float (&sum)[8][8], float* staged) {
  constexpr int rows_a_pass = 2;  // per thread
  constexpr int width = cfg.block.n;
  constexpr int vec4s_a_row = width / ladder::kVec4;
  // The thread's position along m, in subtiles of 4 rows.
  const int group = at.m / tile::kSubtile;
#pragma unroll
  for (int i = 0; i < 8; i += rows_a_pass) {
    __syncthreads();  // all reads of the last tile, or of the previous pass, are done
#pragma unroll
    for (int r = 0; r < rows_a_pass; ++r) {
      float* row = staged + (group * rows_a_pass + r) * width + at.n;
      *reinterpret_cast<float4*>(row) = {sum[i + r][0], sum[i + r][1], sum[i + r][2],
                                         sum[i + r][3]};
      *reinterpret_cast<float4*>(row + cfg.warp.distance.n) = {sum[i + r][4], sum[i + r][5],
                                                               sum[i + r][6], sum[i + r][7]};
    }
    __syncthreads();
    for (int s = threadIdx.x; s < kOutputRows * vec4s_a_row; s += cfg.threads()) {
      const int staged_row = s / vec4s_a_row, col = s % vec4s_a_row * ladder::kVec4;
      const int row = staged_row / rows_a_pass * tile::kSubtile + staged_row % rows_a_pass +
                      tile::offset_of(i, cfg.warp.distance.m);
      float vec4[ladder::kVec4];
      ladder::load_fragment(vec4, staged + staged_row * width + col);
      ladder::store_vec4(p, origin.row + row, origin.col + col, vec4);
    }
  }
}

}  // namespace tessera::warp_tile
