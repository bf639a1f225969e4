// The launch ahead of a product whose operands tensor copies do not take: one that is contiguous
// along k, or whose rows do not begin at multiples of 16 bytes, is brought into rows along m (or
// n).
//
// A thread turns 4 x 4 elements in registers. A warp's four rows of eight such squares fill whole
// sectors both where they are read and where they are written, so shared memory has no part in it.
#pragma once

#include "kernels/epilogue/output.h"
#include "kernels/ptx/griddepcontrol.h"
#include "kernels/simt/params.h"

namespace tessera::simt {

// Four elements of a row of the source, zeros behind its end.
__device__ inline void read_four(float (&x)[4], const float* row, long long left, bool vector) {
  if (vector && left >= 4) {
    const float4 four = *reinterpret_cast<const float4*>(row);
    x[0] = four.x, x[1] = four.y, x[2] = four.z, x[3] = four.w;
    return;
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) x[i] = i < left ? row[i] : 0;
}

// Square (outer ... outer+3, k ... k+3): one row of four outer neighbours for each k.
template <bool along_k>
__device__ void turn_square(const Turn& t, long long outer, long long k, bool vector) {
  float x[4][4];  // as the source stands: (outer, k) if along_k, else (k, outer)
  const long long first = along_k ? outer : k, across = along_k ? k : outer;
  const long long rows = along_k ? t.outer : t.k, length = along_k ? t.k : t.outer;
  const long long stride = along_k ? t.from_outer : t.from_k;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const long long left = first + i < rows ? length - across : 0;
    read_four(x[i], t.from + (first + i) * stride + across, left, vector);
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (k + i >= t.k) continue;
    float* to = t.to + (k + i) * t.ld + outer;
    *reinterpret_cast<float4*>(to) = along_k ? float4{x[0][i], x[1][i], x[2][i], x[3][i]}
                                             : float4{x[i][0], x[i][1], x[i][2], x[i][3]};
  }
}

// One tile of kTurnTile x kTurnTile elements, a square a thread.
template <bool along_k>
__device__ void turn_tile(const Turn& t, long long tile) {
  constexpr int squares = kTurnTile / 4;
  static_assert(squares * squares == kTurnThreads);
  const long long tiles_k = (t.k + kTurnTile - 1) / kTurnTile;
  // A warp: eight squares along what is read, four along what is written.
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int wide = lane % 8 + warp % 2 * 8, narrow = lane / 8 + warp / 2 * 4;
  const long long outer = tile / tiles_k * kTurnTile + 4 * (along_k ? narrow : wide);
  const long long k = tile % tiles_k * kTurnTile + 4 * (along_k ? wide : narrow);
  if (outer >= t.outer || k >= t.k) return;
  turn_square<along_k>(t, outer, k,
                       epilogue::allows_strips(t.from, along_k ? t.from_outer : t.from_k));
}

// Grid: the tiles of A, then those of B.
__device__ inline void turn(const TurnParams& p) {
  ptx::launch_dependents();
  const bool is_a = blockIdx.x < p.a.tiles;
  const Turn& t = is_a ? p.a : p.b;
  const long long tile = is_a ? blockIdx.x : blockIdx.x - p.a.tiles;
  if (t.from_k == 1) {
    turn_tile<true>(t, tile);
  } else {
    turn_tile<false>(t, tile);
  }
}

}  // namespace tessera::simt
