// Asynchronous copies of tiles, and the loop that multiplies them. Rung 13 introduces both; rung 14
// passes another order of FFMAs to the loop.
#pragma once

#include "kernels/copy/cp_async_tile.h"
#include "kernels/tile/lanes.h"
#include "ladder/shared/async_tile.h"
#include "ladder/shared/vec4.h"

namespace tessera::ladder {

template <auto cfg>
struct AsyncStage {
  alignas(16) float a[cfg.block.k][cfg.pitch_a()];  // (k, m)
  alignas(16) float b[cfg.block.k][cfg.pitch_b()];  // (k, n)
};

// Starts the copy of a tile of one operand. Copies vectors if `vectors` is true and the operand is
// not contiguous along k (such a tile must be transposed); else copies element by element.
template <bool along_k, bool vectors, int extent, int threads, int depth, int pitch>
__device__ void copy_tile(float (&tile)[depth][pitch], const copy::Operand& operand,
                          long long first_outer, long long first_k) {
  if constexpr (vectors && !along_k) {
    copy::copy_vectors<extent, threads>(tile, operand, first_outer, first_k);
  } else {
    copy::copy_elements<along_k, extent, threads>(tile, operand, first_outer, first_k);
  }
}

template <auto cfg>
struct AsyncFragments {
  float a[cfg.thread.m], b[cfg.thread.n];  // vectors of four, `lanes` vectors apart

  __device__ void load(const AsyncStage<cfg>& stage, int l, int row, int col) {
#pragma unroll
    for (int i = 0; i < cfg.thread.m; i += kVec4) {
      load_fragment(*reinterpret_cast<float(*)[kVec4]>(a + i), &stage.a[l][row + i * cfg.lanes.m]);
    }
#pragma unroll
    for (int j = 0; j < cfg.thread.n; j += kVec4) {
      load_fragment(*reinterpret_cast<float(*)[kVec4]>(b + j), &stage.b[l][col + j * cfg.lanes.n]);
    }
  }
};

// Both operands of a block, and the ring of stages for their tiles.
template <auto cfg, bool vectors>
struct AsyncTiles {
  copy::Operand a, b;
  BlockOrigin origin;
  AsyncStage<cfg>* ring;

  // Starts the copies of the tile at first_k into a stage, as one group.
  __device__ void copy_to(int stage, long long first_k) const {
    copy_tile<cfg.majors.a == Major::kK, vectors, cfg.block.m, cfg.threads()>(ring[stage].a, a,
                                                                              origin.row, first_k);
    copy_tile<cfg.majors.b == Major::kK, vectors, cfg.block.n, cfg.threads()>(ring[stage].b, b,
                                                                              origin.col, first_k);
    ptx::cp_async_commit_group();
  }
};

// sum += A * B. While a tile is multiplied, the next `stages - 1` tiles are being copied. Tiles of
// zeros follow the last tile, so that the loop needs no check for the end.
template <auto cfg, bool vectors, class MultiplyAdd>
__device__ void multiply(float (&sum)[cfg.thread.m][cfg.thread.n],
                         const AsyncTiles<cfg, vectors>& tiles, int row, int col,
                         MultiplyAdd multiply_add) {
  constexpr int depth = cfg.block.k, ahead = cfg.stages - 1;
#pragma unroll
  for (int stage = 0; stage < ahead; ++stage) tiles.copy_to(stage, stage * depth);
  ptx::cp_async_wait_group<ahead - 1>();
  __syncthreads();

  int current = 0, free = ahead;     // stages
  AsyncFragments<cfg> fragments[2];  // fragments of k = l are in set l % 2
  fragments[0].load(tiles.ring[current], 0, row, col);
#pragma unroll 1
  for (long long k = 0; k < tiles.a.k; k += depth) {
    tiles.copy_to(free, k + ahead * depth);
#pragma unroll
    for (int l = 0; l < depth; ++l) {
      if (l + 1 == depth) {
        ptx::cp_async_wait_group<ahead - 1>();
        __syncthreads();  // the next stage is full, and no warp reads this one any more
        free = current;
        current = current + 1 == cfg.stages ? 0 : current + 1;
      }
      fragments[(l + 1) % 2].load(tiles.ring[current], (l + 1) % depth, row, col);
      multiply_add(sum, fragments[l % 2].a, fragments[l % 2].b);
    }
  }
  ptx::cp_async_wait_all();
}

// Computes the block's tile of D; `multiply_add(sum, a, b)` is one step in k.
template <auto cfg, class MultiplyAdd>
__device__ void multiply_block(const GemmParams& p, AsyncStage<cfg>* ring,
                               MultiplyAdd multiply_add) {
  const BlockOrigin origin = block_origin(p, cfg.block.m, cfg.block.n);
  const auto a = operand_a<cfg.majors>(p);
  const auto b = operand_b<cfg.majors>(p);
  const copy::Operand from_a{a.data, a.outer, a.k, a.stride};
  const copy::Operand from_b{b.data, b.outer, b.k, b.stride};
  const int warp = threadIdx.x / 32;
  const tile::Coord<> lane = tile::lane_coord(cfg.lanes, threadIdx.x % 32);
  const int row = warp / cfg.warps.n * (cfg.block.m / cfg.warps.m) + lane.m * kVec4;
  const int col = warp % cfg.warps.n * (cfg.block.n / cfg.warps.n) + lane.n * kVec4;

  float sum[cfg.thread.m][cfg.thread.n] = {};
  constexpr bool some_by_vectors = cfg.majors.a == Major::kM || cfg.majors.b == Major::kN;
  const bool vectors =
      (cfg.majors.a == Major::kK || a.vectors) && (cfg.majors.b == Major::kK || b.vectors);
  if (some_by_vectors && vectors && p.k > 0) {
    multiply<cfg>(sum, AsyncTiles<cfg, true>{from_a, from_b, origin, ring}, row, col, multiply_add);
  } else if (p.k > 0) {
    multiply<cfg>(sum, AsyncTiles<cfg, false>{from_a, from_b, origin, ring}, row, col,
                  multiply_add);
  }
#pragma unroll
  for (int i = 0; i < cfg.thread.m; ++i) {
#pragma unroll
    for (int j = 0; j < cfg.thread.n; j += kVec4) {
      store_vec4(p, origin.row + row + i / kVec4 * kVec4 * cfg.lanes.m + i % kVec4,
                 origin.col + col + j * cfg.lanes.n, sum[i] + j);
    }
  }
}

}  // namespace tessera::ladder
