// Rung 06: four outputs per thread, along a row of D; one value of A feeds four FMAs.
//
// Rung 05 was limited by shared loads: two per FMA. A vector of 4 needs 5 loads for 4 FMAs, and 256
// threads instead of 1024 let more blocks share an SM. A warp now spans four rows, and loads of A
// would have 4-way conflicts, so A's tile is transposed after all; its stores have the conflicts
// instead.
#include "ladder/06_four_outputs/config.h"
#include "ladder/shared/common.h"

namespace tessera::four_outputs {

template <Config cfg>
__device__ void run(const GemmParams& p) {
  static_assert(is_legal(cfg));
  __shared__ float tile_a[cfg.block.k][cfg.block.m];  // (k, m): transposed
  __shared__ float tile_b[cfg.block.k][cfg.block.n];  // (k, n)
  const ladder::Strided<float> a = ladder::matrix_a<float>(p);
  const ladder::Strided<float> b = ladder::matrix_b<float>(p);
  const ladder::BlockOrigin origin = ladder::block_origin(p, cfg.block.m, cfg.block.n);
  const int row = threadIdx.x / cfg.threads_along_n() * cfg.thread.m;
  const int col = threadIdx.x % cfg.threads_along_n() * cfg.thread.n;

  float sum[cfg.thread.m][cfg.thread.n] = {};
  for (long long k = 0; k < p.k; k += cfg.block.k) {
    for (int i = 0; i < cfg.thread.m; ++i) {
      for (int j = 0; j < cfg.thread.n; ++j) {
        tile_a[col + j][row + i] = a.at_or_zero(origin.row + row + i, k + col + j);
        tile_b[row + i][col + j] = b.at_or_zero(k + row + i, origin.col + col + j);
      }
    }
    __syncthreads();
    for (int l = 0; l < cfg.block.k; ++l) {
      float from_b[cfg.thread.n];
      for (int j = 0; j < cfg.thread.n; ++j) from_b[j] = ladder::as_written(tile_b[l][col + j]);
      for (int i = 0; i < cfg.thread.m; ++i) {
        const float from_a = ladder::as_written(tile_a[l][row + i]);
        for (int j = 0; j < cfg.thread.n; ++j) sum[i][j] += from_a * from_b[j];
      }
    }
    __syncthreads();  // WHY: the next step overwrites tiles that slower warps still read
  }
  for (int i = 0; i < cfg.thread.m; ++i) {
    for (int j = 0; j < cfg.thread.n; ++j) {
      ladder::store(p, origin.row + row + i, origin.col + col + j, sum[i][j]);
    }
  }
}

}  // namespace tessera::four_outputs
