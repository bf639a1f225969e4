// Rung 03: a tile of A and a tile of B are staged in shared memory and read there many times.
//
// Rung 02 was limited by integer instructions, for the addresses of two loads per FMA. A staged
// word serves a whole row or column of the tile, so global reads fall from 2MNK to MNK(1/bm + 1/bn)
// words. B's tile is k-contiguous on purpose: the lanes walk its columns, so all 32 access one bank
// on the store and on the load. Rung 05 removes these conflicts.
#include "ladder/03_shared_tile/config.h"
#include "ladder/shared/common.h"

namespace tessera::shared_tile {

template <Config cfg>
__device__ void run(const GemmParams& p) {
  static_assert(is_legal(cfg));
  __shared__ float tile_a[cfg.block.m][cfg.block.k];
  __shared__ float tile_b[cfg.block.n][cfg.block.k];  // transposed: k is contiguous
  const ladder::Strided<float> a = ladder::matrix_a<float>(p);
  const ladder::Strided<float> b = ladder::matrix_b<float>(p);
  const ladder::BlockOrigin origin = ladder::block_origin(p, cfg.block.m, cfg.block.n);
  const int row = threadIdx.y, col = threadIdx.x;

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

}  // namespace tessera::shared_tile
