// Rung 09: a square of 8x8 outputs in registers.
//
// Rung 08 was limited by shared wavefronts: two 128-bit loads for 16 FMAs. Now four loads feed 64
// FMAs, so at most 64 of 68 issue slots (94 %) can be FMAs. A tile is only 8 deep in k: a thread
// stages one vector of each tile, with other elements than those it multiplies.
#include "ladder/09_tile_8x8/config.h"
#include "ladder/shared/vec4.h"

namespace tessera::tile_8x8 {

template <Config cfg>
__device__ void run(const GemmParams& p) {
  static_assert(is_legal(cfg));
  __shared__ alignas(16) float tile_a[cfg.block.k][cfg.block.m];  // (k, m)
  __shared__ alignas(16) float tile_b[cfg.block.k][cfg.block.n];  // (k, n)
  const auto a = ladder::operand_a<cfg.majors>(p);
  const auto b = ladder::operand_b<cfg.majors>(p);
  const ladder::BlockOrigin origin = ladder::block_origin(p, cfg.block.m, cfg.block.n);
  const int row = threadIdx.x / cfg.threads_along_n() * 8;
  const int col = threadIdx.x % cfg.threads_along_n() * 8;

  float sum[8][8] = {};
  for (long long k = 0; k < p.k; k += cfg.block.k) {
    ladder::stage<cfg.threads()>(tile_a, a, origin.row, k);
    ladder::stage<cfg.threads()>(tile_b, b, origin.col, k);
    __syncthreads();
#pragma unroll
    for (int l = 0; l < cfg.block.k; ++l) {
      float from_a[8], from_b[8];
      ladder::load_fragment(from_a, &tile_a[l][row]);
      ladder::load_fragment(from_b, &tile_b[l][col]);
      ladder::multiply_add(sum, from_a, from_b);
    }
    __syncthreads();  // WHY: the next step overwrites tiles that slower warps still read
  }
  for (int i = 0; i < 8; ++i) {
    ladder::store_vec4(p, origin.row + row + i, origin.col + col, sum[i]);
    ladder::store_vec4(p, origin.row + row + i, origin.col + col + 4, sum[i] + 4);
  }
}

}  // namespace tessera::tile_8x8
