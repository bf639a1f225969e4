// Vectors: four neighbouring elements moved as one 128-bit access. Rung 07 introduces them; later
// rungs stage their tiles with the same few functions, so that their own files show only their
// idea.
//
// This file treats both operands alike: an operand has an outer index (m of A, n of B) and k, and
// is contiguous along one of them. In shared memory a tile is always (k, outer).
#pragma once

#include "base/config.h"
#include "ladder/shared/common.h"

namespace tessera::ladder {

constexpr int kVec4 = 4;  // floats in 128 bits

// Whether the base address and the row stride (in floats) allow 128-bit accesses at every fourth
// element of a row.
__device__ inline bool allows_vec4(const void* base, long long stride) {
  return reinterpret_cast<unsigned long long>(base) % 16 == 0 && stride % kVec4 == 0;
}

// One operand in global memory. along_k: it is contiguous along k.
template <bool along_k>
struct Operand {
  const float* data;
  long long outer, k;  // extents
  long long stride;    // between neighbours along the other index
  bool vectors;        // 128-bit accesses are allowed

  __device__ const float* address(long long o, long long l) const {
    return along_k ? data + o * stride + l : data + l * stride + o;
  }

  // Loads the vector that begins at (o, l), with zeros for elements outside the matrix.
  __device__ float4 load_guarded(long long o, long long l) const {
    const bool first_inside = o < outer && l < k;
    const long long inside = along_k ? k - l : outer - o;  // elements from here to the edge
    if (!first_inside) return {0, 0, 0, 0};
    const float* from = address(o, l);
    if (vectors && inside >= kVec4) return *reinterpret_cast<const float4*>(from);
    return {from[0], inside > 1 ? from[1] : 0, inside > 2 ? from[2] : 0, inside > 3 ? from[3] : 0};
  }

  // Loads the vector that begins at (o, l), which must be inside the matrix and aligned.
  __device__ float4 load(long long o, long long l) const {
    return *reinterpret_cast<const float4*>(address(o, l));
  }
};

template <Majors majors>
__device__ Operand<majors.a == Major::kK> operand_a(const GemmParams& p) {
  const long long stride = majors.a == Major::kK ? p.a_row : p.a_col;
  return {static_cast<const float*>(p.a), p.m, p.k, stride, allows_vec4(p.a, stride)};
}
template <Majors majors>
__device__ Operand<majors.b == Major::kK> operand_b(const GemmParams& p) {
  const long long stride = majors.b == Major::kK ? p.b_col : p.b_row;
  return {static_cast<const float*>(p.b), p.n, p.k, stride, allows_vec4(p.b, stride)};
}

// Assigns the vectors of one (depth, extent) tile to threads: consecutive threads take consecutive
// vectors along the contiguous side, then the next row. `threads` may be a part of the block; the
// caller passes each thread's number within that part.
template <int extent, int depth, int threads, bool along_k>
struct Vec4Map {
  static constexpr int kAcross = (along_k ? depth : extent) / kVec4;  // vectors in one row
  static constexpr int kRowsAtOnce = threads / kAcross;
  static constexpr int kCount = extent * depth / kVec4 / threads;  // vectors per thread
  static_assert(kCount >= 1 && kCount * threads * kVec4 == extent * depth);
  static_assert(threads % kAcross == 0);

  // The position in the tile of the first element of thread t's vector i.
  __device__ static int outer(int t, int i) {
    return along_k ? t / kAcross + i * kRowsAtOnce : t % kAcross * kVec4;
  }
  __device__ static int k(int t, int i) {
    return along_k ? t % kAcross * kVec4 : t / kAcross + i * kRowsAtOnce;
  }
};

// Writes a vector into a (k, outer) tile: one 128-bit store, or four scalar ones where it is
// transposed.
template <bool along_k, int depth, int extent>
__device__ void put_vec4(float (&tile)[depth][extent], int outer, int k, float4 vec4) {
  if constexpr (along_k) {
    tile[k + 0][outer] = vec4.x;
    tile[k + 1][outer] = vec4.y;
    tile[k + 2][outer] = vec4.z;
    tile[k + 3][outer] = vec4.w;
  } else {
    *reinterpret_cast<float4*>(&tile[k][outer]) = vec4;
  }
}

// Stages one tile of an operand whose first element is (first_outer, first_k).
template <int threads, bool along_k, int depth, int extent>
__device__ void stage(float (&tile)[depth][extent], const Operand<along_k>& operand,
                      long long first_outer, long long first_k) {
  using Map = Vec4Map<extent, depth, threads, along_k>;
#pragma unroll
  for (int i = 0; i < Map::kCount; ++i) {
    const int o = Map::outer(threadIdx.x, i), k = Map::k(threadIdx.x, i);
    put_vec4<along_k>(tile, o, k, operand.load_guarded(first_outer + o, first_k + k));
  }
}

// Loads neighbouring words of a tile into registers, 128 bits per load.
template <int count>
__device__ void load_fragment(float (&fragment)[count], const float* words) {
  static_assert(count % kVec4 == 0);
#pragma unroll
  for (int i = 0; i < count; i += kVec4) {
    const float4 vec4 = *reinterpret_cast<const float4*>(words + i);
    fragment[i + 0] = vec4.x;
    fragment[i + 1] = vec4.y;
    fragment[i + 2] = vec4.z;
    fragment[i + 3] = vec4.w;
  }
}

// sum(i, j) += a(i) * b(j): the outer product of two fragments.
template <int rows, int cols>
__device__ void multiply_add(float (&sum)[rows][cols], const float (&a)[rows],
                             const float (&b)[cols]) {
#pragma unroll
  for (int i = 0; i < rows; ++i) {
#pragma unroll
    for (int j = 0; j < cols; ++j) sum[i][j] += a[i] * b[j];
  }
}

// Writes four outputs of one row: as one vector if C and D allow it and all four are inside.
__device__ inline void store_vec4(const GemmParams& p, long long row, long long col,
                                  const float* sum) {
  const bool vectors = allows_vec4(p.d, p.d_row) && (p.beta == 0 || allows_vec4(p.c, p.c_row));
  if (!vectors || row >= p.m || col + kVec4 > p.n) {
    for (int j = 0; j < kVec4; ++j) store(p, row, col + j, sum[j]);
    return;
  }
  const float alpha = static_cast<float>(p.alpha), beta = static_cast<float>(p.beta);
  float4 out = {alpha * sum[0], alpha * sum[1], alpha * sum[2], alpha * sum[3]};
  if (p.beta != 0) {
    const float* c_row = static_cast<const float*>(p.c) + row * p.c_row;
    const float4 c = *reinterpret_cast<const float4*>(c_row + col);
    out = {out.x + beta * c.x, out.y + beta * c.y, out.z + beta * c.z, out.w + beta * c.w};
  }
  float* d_row = static_cast<float*>(p.d) + row * p.d_row;
  // WHY __stwb: the compiler merges a plain store of a float4 with the scalar path above, and emits
  // four STG.32.
  __stwb(reinterpret_cast<float4*>(d_row + col), out);
}

}  // namespace tessera::ladder
