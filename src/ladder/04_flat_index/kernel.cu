// Rung 04: a one-dimensional block whose threads compute their row and column once.
//
// Rung 03 is limited by bank conflicts, and this step leaves them as they are. It tests a claim
// that is often repeated: one index instead of two saves a register. With nvcc 13.0 the claim is
// false; the README shows why.
#include "ladder/04_flat_index/config.h"
#include "ladder/shared/common.h"

namespace tessera::flat_index {

template <Config cfg>
__device__ void run(const GemmParams& p) {
  static_assert(is_legal(cfg));
  __shared__ float tile_a[cfg.block.m][cfg.block.k];
  __shared__ float tile_b[cfg.block.n][cfg.block.k];  // transposed: k is contiguous
  const ladder::Strided<float> a = ladder::matrix_a<float>(p);
  const ladder::Strided<float> b = ladder::matrix_b<float>(p);
  const ladder::BlockOrigin origin = ladder::block_origin(p, cfg.block.m, cfg.block.n);
  const int row = threadIdx.x / cfg.block.n, col = threadIdx.x % cfg.block.n;

  float sum = 0;
  for (long long k = 0; k < p.k; k += cfg.block.k) {
    tile_a[row][col] = a.at_or_zero(origin.row + row, k + col);
    tile_b[col][row] = b.at_or_zero(k + row, origin.col + col);
    __syncthreads();
    for (int i = 0; i < cfg.block.k; ++i) {
      sum += ladder::as_written(tile_a[row][i]) * ladder::as_written(tile_b[col][i]);
    }
    __syncthreads();  // WHY: the next step overwrites tiles that slower warps still read
  }
  ladder::store(p, origin.row + row, origin.col + col, sum);
}

}  // namespace tessera::flat_index
