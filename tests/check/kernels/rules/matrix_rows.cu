// Rows of matrices in shared memory, which matrix loads need at multiples of 16 bytes: STRIDE and
// SHIFT are in halves, and a multiple of 8 is right.
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

#ifndef STRIDE
#define STRIDE 24
#endif
#ifndef SHIFT
#define SHIFT 0
#endif

__global__ void by_wmma(float* d, const half* a) {
  __shared__ __align__(128) half tile[16 * STRIDE + 16];
  for (int i = threadIdx.x; i < 256; i += 32) tile[i / 16 * STRIDE + i % 16 + SHIFT] = a[i];
  __syncwarp();
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums;
  wmma::fill_fragment(sums, 0.0f);
  wmma::load_matrix_sync(fa, tile + SHIFT, STRIDE);
  wmma::load_matrix_sync(fb, tile + SHIFT, STRIDE);
  wmma::mma_sync(sums, fa, fb, sums);
  wmma::store_matrix_sync(d, sums, 16, wmma::mem_row_major);
}

// Straight from global memory, where nothing of the kind is needed.
__global__ void from_global(float* d, const half* a) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums;
  wmma::fill_fragment(sums, 0.0f);
  wmma::load_matrix_sync(fa, a + SHIFT, STRIDE);
  wmma::load_matrix_sync(fb, a + SHIFT, STRIDE);
  wmma::mma_sync(sums, fa, fb, sums);
  wmma::store_matrix_sync(d, sums, 16, wmma::mem_row_major);
}
