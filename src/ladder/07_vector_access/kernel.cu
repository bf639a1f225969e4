// Rung 07: vectors of four elements move as one 128-bit access between global memory and registers.
//
// Rung 06 was limited by scalar loads with stride 4, which touch 16 sectors for 128 bytes. One
// 128-bit load moves the same bytes with a quarter of the requests. A vector is stored into shared
// memory as one vector where the operand is contiguous along its outer index (m or n), and as four
// separate words where the operand is contiguous along k.
#include "ladder/07_vector_access/config.h"
#include "ladder/shared/vec4.h"

namespace tessera::vector_access {

template <Config cfg>
__device__ void run(const GemmParams& p) {
  static_assert(is_legal(cfg));
  __shared__ alignas(16) float tile_a[cfg.block.k][cfg.block.m];  // (k, m)
  __shared__ alignas(16) float tile_b[cfg.block.k][cfg.block.n];  // (k, n)
  const auto a = ladder::operand_a<cfg.majors>(p);
  const auto b = ladder::operand_b<cfg.majors>(p);
  const ladder::BlockOrigin origin = ladder::block_origin(p, cfg.block.m, cfg.block.n);
  const int row = threadIdx.x / cfg.threads_along_n();
  const int col = threadIdx.x % cfg.threads_along_n() * 4;

  float sum[4] = {};
  for (long long k = 0; k < p.k; k += cfg.block.k) {
    ladder::stage<cfg.threads()>(tile_a, a, origin.row, k);
    ladder::stage<cfg.threads()>(tile_b, b, origin.col, k);
    __syncthreads();
    for (int l = 0; l < cfg.block.k; ++l) {
      const float from_a = ladder::as_written(tile_a[l][row]);
      for (int j = 0; j < 4; ++j) sum[j] += from_a * ladder::as_written(tile_b[l][col + j]);
    }
    __syncthreads();  // WHY: the next step overwrites tiles that slower warps still read
  }
  ladder::store_vec4(p, origin.row + row, origin.col + col, sum);
}

}  // namespace tessera::vector_access
