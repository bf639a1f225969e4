// BF16, FP16 and TF32 products on any GPU from SM 7.5 on, on CUDA cores: operands become floats on
// their way into shared memory, and sums the type of D on their way out. One CTA per output tile,
// any sizes, strides and alignments, one element at a time. HW: instructions that convert to BF16
// or TF32 need SM 8.0, so both are rounded by integer arithmetic here.
#include <cuda/std/type_traits>

#include "kernels/epilogue/linear_combination.h"
#include "kernels/families/mma/ffma_config.h"
#include "kernels/schedule/raster.h"

namespace tessera::mma_by_ffma {

using ptx::MatrixType;

// To the nearest TF32; of two, the larger one. Infinities and NaN stay as they are.
__device__ float to_tf32(float x) {
  const unsigned bits = __float_as_uint(x);
  const bool is_finite = (bits & 0x7f800000) != 0x7f800000;
  return is_finite ? __uint_as_float((bits + 0x1000) & ~0x1fffu) : x;
}

template <MatrixType in>
__device__ float load(const void* matrix, long long at) {
  if constexpr (in == MatrixType::kTF32) {
    return to_tf32(static_cast<const float*>(matrix)[at]);
  } else {
    constexpr auto kElement = in == MatrixType::kBF16 ? ElementType::kBf16 : ElementType::kF16;
    return types::Storage<kElement>::load(matrix, at);
  }
}

template <ElementType out>
__device__ void store(void* d, long long at, float value) {
  using Storage = types::Storage<out>;
  static_cast<typename Storage::Memory*>(d)[at] = Storage::rounded(value);
}

// One operand in global memory: `outer` is m of A, n of B.
struct Operand {
  const void* data;
  long long outer, k;
  long long by_outer, by_k;  // strides
};

// A tile in shared memory, (k, outer); elements outside of the matrix are zeros.
template <Config cfg, int outer>
struct SharedTile {
  float x[cfg.block.k][pitch(outer)];

  // Neighbouring threads copy neighbours in memory.
  __device__ void copy(const Operand& from, long long first_outer, long long first_k) {
    const bool along_k = from.by_k == 1;
#pragma unroll
    for (int i = threadIdx.x; i < outer * cfg.block.k; i += cfg.threads()) {
      const int o = along_k ? i / cfg.block.k : i % outer;
      const int k = along_k ? i % cfg.block.k : i / outer;
      const long long in_outer = first_outer + o, in_k = first_k + k;
      const bool inside = in_outer < from.outer && in_k < from.k;
      x[k][o] =
          inside ? load<cfg.in>(from.data, in_outer * from.by_outer + in_k * from.by_k) : 0.0f;
    }
  }
};

template <Config cfg>
using Sums = float[cfg.thread.m][cfg.thread.n];

// A thread's outputs are a thread grid apart: lanes read neighbours, or the same.
template <Config cfg>
__device__ void multiply(Sums<cfg>& sum, const SharedTile<cfg, cfg.block.m>& a,
                         const SharedTile<cfg, cfg.block.n>& b, int row, int column) {
#pragma unroll
  for (int k = 0; k < cfg.block.k; ++k) {
#pragma unroll
    for (int i = 0; i < cfg.thread.m; ++i) {
#pragma unroll
      for (int j = 0; j < cfg.thread.n; ++j) {
        sum[i][j] +=
            a.x[k][row + i * cfg.thread_grid().m] * b.x[k][column + j * cfg.thread_grid().n];
      }
    }
  }
}

template <Config cfg>
__device__ void run(const GemmParams& p) {
  static_assert(is_legal(cfg));
  __shared__ SharedTile<cfg, cfg.block.m> a;
  __shared__ SharedTile<cfg, cfg.block.n> b;
  const tile::Coord<long long> at = schedule::grouped_tile(
      blockIdx.x, (p.m + cfg.block.m - 1) / cfg.block.m, (p.n + cfg.block.n - 1) / cfg.block.n);
  const long long first_m = at.m * cfg.block.m, first_n = at.n * cfg.block.n;
  const int row = threadIdx.x / cfg.thread_grid().n, column = threadIdx.x % cfg.thread_grid().n;
  const Operand from_a{p.a, p.m, p.k, p.a_row, p.a_col}, from_b{p.b, p.n, p.k, p.b_col, p.b_row};
  Sums<cfg> sum = {};
  for (long long k = 0; k < p.k; k += cfg.block.k) {
    a.copy(from_a, first_m, k);
    b.copy(from_b, first_n, k);
    __syncthreads();  // the tiles are there
    multiply<cfg>(sum, a, b, row, column);
    __syncthreads();  // and all have read them
  }
  for (int i = 0; i < cfg.thread.m; ++i) {
    for (int j = 0; j < cfg.thread.n; ++j) {
      const long long m = first_m + row + i * cfg.thread_grid().m;
      const long long n = first_n + column + j * cfg.thread_grid().n;
      if (m >= p.m || n >= p.n) continue;
      float value = static_cast<float>(p.alpha) * sum[i][j];
      if (p.beta != 0) {
        value += static_cast<float>(p.beta) * epilogue::load<cfg.out>(p.c, m * p.c_row + n);
      }
      store<cfg.out>(p.d, m * p.d_row + n, value);
    }
  }
}

}  // namespace tessera::mma_by_ffma
