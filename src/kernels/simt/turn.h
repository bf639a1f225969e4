// The launch ahead of a product whose operands tensor copies do not take: one that is contiguous
// along k, or whose rows do not begin at multiples of 16 bytes, is brought into rows along m (or
// n).
//
// A block moves a tile through shared memory, so that both sides see whole lines of 128 bytes.
// TRIED (H200, 4096 x 4096, 1056 copying blocks as the bound: 36.6 us): squares of 4 x 4 turned in
// registers, which write 64 bytes of a line at a time, 87 us; the same with whole lines written and
// halves read 52 us; this tile 44 us, of 64 x 64 46 us, of 32 x 32 54 us.
#pragma once

#include "kernels/epilogue/output.h"
#include "kernels/ptx/griddepcontrol.h"
#include "kernels/simt/params.h"

namespace tessera::simt {

// WHY the pitch: neighbours along outer, and four k of eight outer apart, lie in 32 banks.
struct TurnTile {
  float values[kTurnOuter][kTurnDepth + 1];
};

// Fills the tile with what `load` finds at (row, column), `width` neighbours along k at a time. All
// loads of a thread are in flight together.
template <int width, class Load>
__device__ void fill(TurnTile& tile, bool lanes_along_k, Load load) {
  constexpr int kColumns = kTurnDepth / width, kCount = kTurnOuter * kColumns / kTurnThreads;
  const auto row = [&](int i) { return lanes_along_k ? i / kColumns : i % kTurnOuter; };
  const auto column = [&](int i) {
    return (lanes_along_k ? i % kColumns : i / kTurnOuter) * width;
  };
  float x[kCount][width];
#pragma unroll
  for (int n = 0; n < kCount; ++n) {
    const int i = threadIdx.x + n * kTurnThreads;
    load(x[n], row(i), column(i));
  }
#pragma unroll
  for (int n = 0; n < kCount; ++n) {
    const int i = threadIdx.x + n * kTurnThreads;
#pragma unroll
    for (int w = 0; w < width; ++w) tile.values[row(i)][column(i) + w] = x[n][w];
  }
}

// The tile at (outer, k) of the source; zeros behind its ends.
__device__ inline void read_tile(TurnTile& tile, const Turn& t, long long outer, long long k) {
  const bool along_k = t.from_k == 1;
  if (along_k && epilogue::allows_strips(t.from, t.from_outer) && k + kTurnDepth <= t.k) {
    fill<4>(tile, true, [&](float(&x)[4], int row, int column) {
      float4 four = {0, 0, 0, 0};
      if (outer + row < t.outer) {
        four = *reinterpret_cast<const float4*>(t.from + (outer + row) * t.from_outer + k + column);
      }
      x[0] = four.x, x[1] = four.y, x[2] = four.z, x[3] = four.w;
    });
    return;
  }
  fill<1>(tile, along_k, [&](float(&x)[1], int row, int column) {
    const bool inside = outer + row < t.outer && k + column < t.k;
    x[0] = inside ? t.from[(outer + row) * t.from_outer + (k + column) * t.from_k] : 0;
  });
}

// Rows of `ld` have room for whole tiles.
__device__ inline void write_tile(const TurnTile& tile, const Turn& t, long long outer,
                                  long long k) {
  constexpr int kStrips = kTurnOuter / 4, kCount = kTurnDepth * kStrips / kTurnThreads;
#pragma unroll
  for (int n = 0; n < kCount; ++n) {
    const int i = threadIdx.x + n * kTurnThreads;
    const int column = i / kStrips, row = i % kStrips * 4;
    if (k + column >= t.k) return;
    float* to = t.to + (k + column) * t.ld + outer + row;
    *reinterpret_cast<float4*>(to) = {tile.values[row][column], tile.values[row + 1][column],
                                      tile.values[row + 2][column], tile.values[row + 3][column]};
  }
}

// Grid: the tiles of A, then those of B.
__device__ inline void turn(const TurnParams& p) {
  __shared__ TurnTile tile;
  ptx::launch_dependents();
  const bool is_a = blockIdx.x < p.a.tiles;
  const Turn& t = is_a ? p.a : p.b;
  const long long number = is_a ? blockIdx.x : blockIdx.x - p.a.tiles;
  const long long tiles_k = (t.k + kTurnDepth - 1) / kTurnDepth;
  const long long outer = number / tiles_k * kTurnOuter, k = number % tiles_k * kTurnDepth;
  read_tile(tile, t, outer, k);
  __syncthreads();
  write_tile(tile, t, outer, k);
}

}  // namespace tessera::simt
