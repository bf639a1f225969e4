// Copies from global to shared memory in two steps, load and store; vectors are held in registers
// in between. Rung 10 introduces these steps, so that later rungs can put work between them.
#pragma once

#include "ladder/shared/vec4.h"

namespace tessera::ladder {

// The vectors of one operand's (depth, extent) tiles that one thread moves.
template <int extent, int depth, int threads, bool along_k>
class Vec4Loader {
 public:
  using Map = Vec4Map<extent, depth, threads, along_k>;

  __device__ Vec4Loader(const Operand<along_k>& operand, long long first_outer, int thread)
      : operand_(operand),
        first_outer_(first_outer),
        thread_(thread),
        next_(operand.address(first_outer + Map::outer(thread, 0), Map::k(thread, 0))) {}

  // Fetches the tile that begins at first_k, with zeros outside the matrix.
  __device__ void fetch_guarded(long long first_k) {
#pragma unroll
    for (int i = 0; i < Map::kCount; ++i) {
      vec4s_[i] = operand_.load_guarded(first_outer_ + Map::outer(thread_, i),
                                        first_k + Map::k(thread_, i));
    }
  }

  // Fetches the next tile in k without bounds checks; the first call fetches the tile at k = 0.
  __device__ void fetch_next() {
#pragma unroll
    for (int i = 0; i < Map::kCount; ++i) {
      vec4s_[i] = *reinterpret_cast<const float4*>(next_ + i * Map::kRowsAtOnce * operand_.stride);
    }
    next_ += along_k ? depth : depth * operand_.stride;
  }

  // Fetches the tile at first_k. Unguarded calls must fetch all tiles in order from k = 0.
  template <bool guarded>
  __device__ void fetch(long long first_k) {
    if constexpr (guarded) {
      fetch_guarded(first_k);
    } else {
      fetch_next();
    }
  }

  // Writes the fetched vectors into a tile.
  __device__ void put(float (&tile)[depth][extent]) const {
#pragma unroll
    for (int i = 0; i < Map::kCount; ++i) {
      put_vec4<along_k>(tile, Map::outer(thread_, i), Map::k(thread_, i), vec4s_[i]);
    }
  }

  // Writes the fetched vectors into a tile with rows along k: vectors that put() transposes are
  // stored as they are, and vice versa.
  __device__ void put_rows(float (&tile)[extent][depth]) const {
#pragma unroll
    for (int i = 0; i < Map::kCount; ++i) {
      put_vec4<!along_k>(tile, Map::k(thread_, i), Map::outer(thread_, i), vec4s_[i]);
    }
  }

 private:
  Operand<along_k> operand_;
  long long first_outer_;
  int thread_;
  const float* next_;
  float4 vec4s_[Map::kCount];
};

// Whether the block's tile is completely inside D and both operands allow 128-bit loads.
template <class A, class B>
__device__ bool is_interior(const GemmParams& p, BlockOrigin origin, BlockTile block, const A& a,
                            const B& b) {
  return a.vectors && b.vectors && origin.row + block.m <= p.m && origin.col + block.n <= p.n;
}

}  // namespace tessera::ladder
