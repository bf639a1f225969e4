// Copies of tiles by cp.async, which the threads execute: 16 bytes at a time, or element by element
// if the base or the row stride is not a multiple of 16 bytes, or if the operand is contiguous
// along k and the copy transposes it. Elements outside of the matrix become zeros.
#pragma once

#include "kernels/ptx/cp_async.h"
#include "kernels/tile/copy_map.h"

namespace tessera::copy {

// One operand in global memory. `outer` is m of A, n of B. The operand is contiguous along k or
// along outer; neighbours along the other index are `stride` elements apart.
struct Operand {
  const float* data;
  long long outer, k;
  long long stride;
};

// Starts the copy of the tile that begins at (first_outer, first_k); `tile` is (k, outer). `unroll`
// limits the unrolling of the loop over rows, for kernels in which registers do not suffice for all
// the addresses.
template <bool along_k, int extent, int threads, int unroll = 64, int depth, int pitch>
__device__ void copy_elements(float (&tile)[depth][pitch], const Operand& operand,
                              long long first_outer, long long first_k) {
  using Map = tile::ElementMap<extent, depth, along_k, threads>;
  const int thread = threadIdx.x % threads;
  const int o = Map::outer(thread), k = Map::k(thread);
  const long long outer = first_outer + o, in_k = first_k + k;
  const float* from =
      operand.data + (along_k ? outer * operand.stride + in_k : in_k * operand.stride + outer);
  float* to = &tile[k][o];
  const long long outer_left = operand.outer - outer, k_left = operand.k - in_k;
  // The outer loop adds the stride to a pointer; the inner loop uses constant offsets.
  constexpr int kFar = along_k ? Map::kOuterCount : Map::kKCount;
  constexpr int kNear = along_k ? Map::kKCount : Map::kOuterCount;
#pragma unroll unroll
  for (int far = 0; far < kFar; ++far) {
#pragma unroll
    for (int near = 0; near < kNear; ++near) {
      const int i = along_k ? far : near, j = along_k ? near : far;
      const bool inside = i * Map::kOuterStep < outer_left && j * Map::kKStep < k_left;
      const int step = along_k ? j * Map::kKStep : i * Map::kOuterStep;
      ptx::cp_async<4>(to + j * Map::kKStep * pitch + i * Map::kOuterStep, from + step,
                       inside ? 4 : 0);
    }
    from += operand.stride * (along_k ? Map::kOuterStep : Map::kKStep);
  }
}

// Like copy_elements, but 16 bytes at a time, for an operand contiguous along outer whose base and
// stride are multiples of 16 bytes. Neighbouring threads copy neighbouring vectors of a row.
template <int extent, int threads, int depth, int pitch>
__device__ void copy_vectors(float (&tile)[depth][pitch], const Operand& operand,
                             long long first_outer, long long first_k) {
  using Map = tile::VectorMap<extent, depth, threads>;
  constexpr int kVector = Map::kWidth;
  const int o = Map::outer(threadIdx.x), k = Map::k(threadIdx.x);
  const long long outer_left = operand.outer - first_outer - o;
  const int inside = outer_left >= kVector ? kVector : outer_left > 0 ? outer_left : 0;
  const int k_left = (operand.k - first_k < depth ? operand.k - first_k : depth) - k;
  const float* from = operand.data + (first_k + k) * operand.stride + first_outer + o;
#pragma unroll
  for (int i = 0; i < Map::kKCount; ++i) {
    const int rows = i * Map::kKStep;
    ptx::cp_async_past_l1(&tile[k + rows][o], from, rows < k_left ? 4 * inside : 0);
    from += Map::kKStep * operand.stride;
  }
}

}  // namespace tessera::copy
