// Rung 05: B's tile is laid out in shared memory as the lanes read it: n is contiguous.
//
// Rung 04 was limited by bank conflicts: 32 lanes in one bank on every read of B. Now the lanes
// read 32 neighbouring words of B and one word of A: no excess wavefronts. The variant that also
// transposes A's tile shows that this only moves the conflicts to A's store.
#include "ladder/05_conflict_free/config.h"
#include "ladder/shared/common.h"

namespace tessera::conflict_free {

template <Config cfg>
__device__ void run(const GemmParams& p) {
  static_assert(is_legal(cfg));
  __shared__ float tile_a[cfg.block.m][cfg.block.k];  // (m, k), or (k, m) when transposed: a square
  __shared__ float tile_b[cfg.block.k][cfg.block.n];  // (k, n)
  const ladder::Strided<float> a = ladder::matrix_a<float>(p);
  const ladder::Strided<float> b = ladder::matrix_b<float>(p);
  const ladder::BlockOrigin origin = ladder::block_origin(p, cfg.block.m, cfg.block.n);
  const int row = threadIdx.x / cfg.block.n, col = threadIdx.x % cfg.block.n;
  const auto word_of_a = [&](int m, int k) -> float& {
    return cfg.transpose_a ? tile_a[k][m] : tile_a[m][k];
  };

  float sum = 0;
  for (long long k = 0; k < p.k; k += cfg.block.k) {
    word_of_a(row, col) = a.at_or_zero(origin.row + row, k + col);
    tile_b[row][col] = b.at_or_zero(k + row, origin.col + col);
    __syncthreads();
    for (int i = 0; i < cfg.block.k; ++i) {
      sum += ladder::as_written(word_of_a(row, i)) * ladder::as_written(tile_b[i][col]);
    }
    __syncthreads();  // WHY: the next step overwrites tiles that slower warps still read
  }
  ladder::store(p, origin.row + row, origin.col + col, sum);
}

}  // namespace tessera::conflict_free
