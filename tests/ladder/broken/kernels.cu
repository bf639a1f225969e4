// Kernels that are wrong on purpose: each is one intact kernel with one bug planted. The tests
// prove that verification catches every one of them, and passes the intact ones.
#include <mma.h>

#include "ladder/shared/common.h"
#include "ladder/shared/packed.h"

namespace tessera::broken {

struct Bugs {
  bool k_tail_guarded_in_last_block_only = false;  // a published ladder: other blocks read past k
  bool no_barrier_before_use = false;
  bool no_barrier_at_loop_end = false;  // a published float4 version
  bool unguarded_loads = false;         // a published shared version: reads out of range
  bool unguarded_stores = false;
  bool beta_ignored = false;  // C += sum
  bool c_read_when_beta_is_zero = false;
  bool alpha_on_everything = false;  // alpha * (sum + beta * c)
  bool zeros_skipped = false;        // 0 * NaN is lost
  bool k_tail_dropped = false;
  bool last_k_dropped = false;
  bool ld_taken_for_n = false;
  bool b_read_transposed = false;
  bool operands_rounded_to_tf32 = false;
  bool edge_threads_return_early = false;  // before the tiles are staged
};

constexpr int kTile = 16;

__device__ float to_tf32(float x) { return __uint_as_float(__float_as_uint(x) & 0xffffe000u); }

template <Bugs bugs>
__device__ float element(const ladder::Strided<float>& x, long long r, long long c,
                         bool last_block) {
  const bool guarded =
      !bugs.unguarded_loads && (!bugs.k_tail_guarded_in_last_block_only || last_block);
  const float value = guarded ? x.at_or_zero(r, c) : x.at(r, c);
  return bugs.operands_rounded_to_tf32 ? to_tf32(value) : value;
}

template <Bugs bugs>
__device__ void finish(const GemmParams& p, long long row, long long col, float sum) {
  if (!bugs.unguarded_stores && (row >= p.m || col >= p.n)) return;
  const long long d_row = bugs.ld_taken_for_n ? p.n : p.d_row;
  const float* c = static_cast<const float*>(p.c) + row * p.c_row + col;
  float* d = static_cast<float*>(p.d) + row * d_row + col;
  const float alpha = static_cast<float>(p.alpha), beta = static_cast<float>(p.beta);
  if (bugs.beta_ignored) {
    *d = *c + alpha * sum;
  } else if (bugs.c_read_when_beta_is_zero) {
    *d = alpha * sum + beta * *c;
  } else if (bugs.alpha_on_everything) {
    *d = alpha * (beta == 0 ? sum : sum + beta * *c);
  } else {
    *d = ladder::blend(p, sum, c);
  }
}

template <Bugs bugs>
__device__ void tile_kernel(const GemmParams& p) {
  __shared__ float tile_a[kTile][kTile];
  __shared__ float tile_b[kTile][kTile];
  const ladder::Strided<float> a = ladder::matrix_a<float>(p);
  ladder::Strided<float> b = ladder::matrix_b<float>(p);
  if (bugs.b_read_transposed) b = {b.data, b.rows, b.cols, b.col, b.row};
  const ladder::BlockOrigin origin = ladder::block_origin(p, kTile, kTile);
  const int row = threadIdx.x / kTile, col = threadIdx.x % kTile;
  const bool last_block = origin.row + kTile >= p.m || origin.col + kTile >= p.n;
  if (bugs.edge_threads_return_early && (origin.row + row >= p.m || origin.col + col >= p.n))
    return;

  float sum = 0;
  const long long k_end = bugs.k_tail_dropped ? p.k / kTile * kTile : p.k - bugs.last_k_dropped;
  for (long long k = 0; k < k_end; k += kTile) {
    tile_a[row][col] = element<bugs>(a, origin.row + row, k + col, last_block);
    tile_b[row][col] = element<bugs>(b, k + row, origin.col + col, last_block);
    if (bugs.last_k_dropped && k + col >= k_end) tile_a[row][col] = 0;
    if (!bugs.no_barrier_before_use) __syncthreads();
    for (int l = 0; l < kTile; ++l) {
      if (bugs.zeros_skipped && tile_a[row][l] == 0) continue;
      sum += tile_a[row][l] * tile_b[l][col];
    }
    if (!bugs.no_barrier_at_loop_end) __syncthreads();
  }
  finish<bugs>(p, origin.row + row, origin.col + col, sum);
}

}  // namespace tessera::broken

#define TILE_ENTRY(name, ...)                                                                    \
  extern "C" __global__ void broken_##name(const __grid_constant__ tessera::GemmParams params) { \
    tessera::broken::tile_kernel<tessera::broken::Bugs{__VA_ARGS__}>(params);                    \
  }

TILE_ENTRY(intact)
TILE_ENTRY(k_tail_guarded_in_last_block_only, .k_tail_guarded_in_last_block_only = true)
TILE_ENTRY(no_barrier_before_use, .no_barrier_before_use = true)
TILE_ENTRY(no_barrier_at_loop_end, .no_barrier_at_loop_end = true)
TILE_ENTRY(unguarded_loads, .unguarded_loads = true)
TILE_ENTRY(unguarded_stores, .unguarded_stores = true)
TILE_ENTRY(beta_ignored, .beta_ignored = true)
TILE_ENTRY(c_read_when_beta_is_zero, .c_read_when_beta_is_zero = true)
TILE_ENTRY(alpha_on_everything, .alpha_on_everything = true)
TILE_ENTRY(zeros_skipped, .zeros_skipped = true)
TILE_ENTRY(k_tail_dropped, .k_tail_dropped = true)
TILE_ENTRY(last_k_dropped, .last_k_dropped = true)
TILE_ENTRY(ld_taken_for_n, .ld_taken_for_n = true)
TILE_ENTRY(b_read_transposed, .b_read_transposed = true)
TILE_ENTRY(operands_rounded_to_tf32, .operands_rounded_to_tf32 = true)
TILE_ENTRY(edge_threads_return_early, .edge_threads_return_early = true)
#undef TILE_ENTRY

// One FP64 tensor-core tile a block, k in whole fours, interior only. Launched with 32 threads it
// is intact; launched with 64, as a published version did, both warps compute and update the same
// tile: in place the second one reads what the first one wrote.
extern "C" __global__ void broken_tensor_core_tile(const __grid_constant__ tessera::GemmParams p) {
  using namespace nvcuda;
  const tessera::ladder::BlockOrigin origin = tessera::ladder::block_origin(p, 8, 8);
  wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::row_major> b;
  wmma::fragment<wmma::accumulator, 8, 8, 4, double> sum, c;
  wmma::fill_fragment(sum, 0.0);
  for (long long k = 0; k < p.k; k += 4) {
    wmma::load_matrix_sync(a, static_cast<const double*>(p.a) + origin.row * p.a_row + k,
                           static_cast<unsigned>(p.a_row));
    wmma::load_matrix_sync(b, static_cast<const double*>(p.b) + k * p.b_row + origin.col,
                           static_cast<unsigned>(p.b_row));
    wmma::mma_sync(sum, a, b, sum);
  }
  double* d = static_cast<double*>(p.d) + origin.row * p.d_row + origin.col;
  wmma::load_matrix_sync(c, d, static_cast<unsigned>(p.d_row), wmma::mem_row_major);
  for (int i = 0; i < c.num_elements; ++i) c.x[i] = p.alpha * sum.x[i] + p.beta * c.x[i];
  wmma::store_matrix_sync(d, c, static_cast<unsigned>(p.d_row), wmma::mem_row_major);
}

// Strips of four, the version whose published form misses the barrier at the end of the loop.
template <bool barrier_at_loop_end>
__device__ void vec4_kernel(const tessera::GemmParams& p) {
  __shared__ alignas(16) float tile_a[32][32];  // (m, k)
  __shared__ alignas(16) float tile_b[32][32];  // (k, n)
  const auto a = tessera::ladder::matrix_a<float>(p);
  const auto b = tessera::ladder::matrix_b<float>(p);
  const tessera::ladder::BlockOrigin origin = tessera::ladder::block_origin(p, 32, 32);
  const int row = threadIdx.x / 8, col = threadIdx.x % 8 * 4;
  const auto vec4 = [](const auto& x, long long r, long long c) -> float4 {
    return {x.at_or_zero(r, c), x.at_or_zero(r, c + 1), x.at_or_zero(r, c + 2),
            x.at_or_zero(r, c + 3)};
  };
  float4 sum = {0, 0, 0, 0};
  for (long long k = 0; k < p.k; k += 32) {
    *reinterpret_cast<float4*>(&tile_a[row][col]) = vec4(a, origin.row + row, k + col);
    *reinterpret_cast<float4*>(&tile_b[row][col]) = vec4(b, k + row, origin.col + col);
    __syncthreads();
    for (int l = 0; l < 32; ++l) {
      const float from_a = tile_a[row][l];
      const float4 from_b = *reinterpret_cast<const float4*>(&tile_b[l][col]);
      sum.x += from_a * from_b.x;
      sum.y += from_a * from_b.y;
      sum.z += from_a * from_b.z;
      sum.w += from_a * from_b.w;
    }
    if (barrier_at_loop_end) __syncthreads();
  }
  const float sums[4] = {sum.x, sum.y, sum.z, sum.w};
  for (int j = 0; j < 4; ++j) {
    tessera::ladder::store(p, origin.row + row, origin.col + col + j, sums[j]);
  }
}
extern "C" __global__ void broken_vec4_intact(const __grid_constant__ tessera::GemmParams p) {
  vec4_kernel<true>(p);
}
extern "C" __global__ void broken_vec4_no_barrier_at_loop_end(
    const __grid_constant__ tessera::GemmParams p) {
  vec4_kernel<false>(p);
}
