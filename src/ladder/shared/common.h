// Code that all rungs share: the origin of a block's tile, a guarded element load, and the
// alpha/beta store. Everything else in rungs 01-06 is plain CUDA in the rung itself.
#pragma once

#include "launch/params.h"

namespace tessera::ladder {

// The first output row and column of this block. Block numbers increase along a row of tiles.
struct BlockOrigin {
  long long row, col;
};

__device__ inline BlockOrigin block_origin(const GemmParams& p, int block_m, int block_n) {
  const unsigned tiles_along_n = static_cast<unsigned>((p.n + block_n - 1) / block_n);
  return {static_cast<long long>(blockIdx.x / tiles_along_n) * block_m,
          static_cast<long long>(blockIdx.x % tiles_along_n) * block_n};
}

// A matrix with strides that are known at run time: element (r, c) is data[r * row + c * col].
template <class T>
struct Strided {
  const T* data;
  long long rows, cols, row, col;

  __device__ T at(long long r, long long c) const { return data[r * row + c * col]; }
  // Element (r, c), or zero outside the matrix, so that a tile's tail adds nothing to a sum.
  __device__ T at_or_zero(long long r, long long c) const {
    return r < rows && c < cols ? at(r, c) : T{0};
  }
};

template <class T>
__device__ Strided<T> matrix_a(const GemmParams& p) {  // (m, k)
  return {static_cast<const T*>(p.a), p.m, p.k, p.a_row, p.a_col};
}
template <class T>
__device__ Strided<T> matrix_b(const GemmParams& p) {  // (k, n)
  return {static_cast<const T*>(p.b), p.k, p.n, p.b_row, p.b_col};
}

// Returns alpha * sum + beta * c. If beta is zero, c is not read: NaN in C must not reach D.
template <class T>
__device__ T blend(const GemmParams& p, T sum, const T* c) {
  const T scaled = static_cast<T>(p.alpha) * sum;
  return p.beta == 0 ? scaled : scaled + static_cast<T>(p.beta) * *c;
}

// Writes one output, or nothing if it is outside the matrix.
template <class T>
__device__ void store(const GemmParams& p, long long row, long long col, T sum) {
  if (row >= p.m || col >= p.n) return;
  const T* c = static_cast<const T*>(p.c) + row * p.c_row + col;
  T* d = static_cast<T*>(p.d) + row * p.d_row + col;
  *d = blend(p, sum, c);
}

// Reads one word of shared memory. WHY volatile: without it ptxas merges neighbouring loads into
// wide ones, and the cubin no longer shows the effect that the rung explains.
__device__ inline float as_written(const float& word) {
  return *static_cast<const volatile float*>(&word);
}

}  // namespace tessera::ladder
