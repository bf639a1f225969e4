// BF16, FP16 and TF32 products on the CUDA cores of any GPU from SM 7.5 on. Operands are converted
// to floats when they are copied to shared memory, and sums to the type of D when they are stored.
// One CTA per output tile, any sizes, strides and alignments, one element at a time. HW:
// instructions that round to BF16 or TF32 need SM 8.0, so integer arithmetic rounds here.
#include <cuda/std/type_traits>

#include "kernels/epilogue/linear_combination.h"
#include "kernels/families/mma/ffma_config.h"
#include "kernels/mainloop/ffma_strided.h"
#include "kernels/schedule/raster.h"

namespace tessera::mma_by_ffma {

using ptx::MatrixType;

// Rounds to the nearest TF32, ties away from zero. Infinities and NaN are not changed.
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

template <Config cfg>
__device__ void run(const GemmParams& p) {
  static_assert(is_legal(cfg));
  __shared__ mainloop::StridedTiles<cfg> tiles;
  const tile::Coord<long long> at = schedule::grouped_tile(
      blockIdx.x, (p.m + cfg.block.m - 1) / cfg.block.m, (p.n + cfg.block.n - 1) / cfg.block.n);
  const tile::Coord<long long> first{at.m * cfg.block.m, at.n * cfg.block.n};
  const auto sums = mainloop::multiply_strided<cfg, 0>(
      tiles, {p.a, p.m, p.k, p.a_row, p.a_col}, {p.b, p.n, p.k, p.b_col, p.b_row}, first,
      [](const void* matrix, long long i) { return load<cfg.in>(matrix, i); },
      [] { __syncthreads(); });
  sums.for_each([&](float sum, int row, int column) {
    const long long m = first.m + row, n = first.n + column;
    if (m >= p.m || n >= p.n) return;
    float value = static_cast<float>(p.alpha) * sum;
    if (p.beta != 0) {
      value += static_cast<float>(p.beta) * epilogue::load<cfg.out>(p.c, m * p.c_row + n);
    }
    store<cfg.out>(p.d, m * p.d_row + n, value);
  });
}

}  // namespace tessera::mma_by_ffma
