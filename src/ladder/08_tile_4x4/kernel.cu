// Rung 08: a square of 4x4 outputs in registers.
//
// Rung 07 was limited by shared loads: 5 words for 4 FMAs. Now 8 words, loaded as two 128-bit
// vectors, feed 16 FMAs: half a word per FMA. The larger block, 64 x 64 outputs instead of
// 32 x 32, also halves global traffic.
#include "ladder/08_tile_4x4/config.h"
#include "ladder/shared/vec4.h"

namespace tessera::tile_4x4 {

template <Config cfg>
__device__ void run(const GemmParams& p) {
  static_assert(is_legal(cfg));
  __shared__ alignas(16) float tile_a[cfg.block.k][cfg.block.m];  // (k, m)
  __shared__ alignas(16) float tile_b[cfg.block.k][cfg.block.n];  // (k, n)
  const auto a = ladder::operand_a<cfg.majors>(p);
  const auto b = ladder::operand_b<cfg.majors>(p);
  const ladder::BlockOrigin origin = ladder::block_origin(p, cfg.block.m, cfg.block.n);
  const int row = threadIdx.x / cfg.threads_along_n() * 4;
  const int col = threadIdx.x % cfg.threads_along_n() * 4;

  float sum[4][4] = {};
  for (long long k = 0; k < p.k; k += cfg.block.k) {
    ladder::stage<cfg.threads()>(tile_a, a, origin.row, k);
    ladder::stage<cfg.threads()>(tile_b, b, origin.col, k);
    __syncthreads();
#pragma unroll
    for (int l = 0; l < cfg.block.k; ++l) {
      float from_a[4], from_b[4];
      ladder::load_fragment(from_a, &tile_a[l][row]);
      ladder::load_fragment(from_b, &tile_b[l][col]);
      ladder::multiply_add(sum, from_a, from_b);
    }
    __syncthreads();  // WHY: the next step overwrites tiles that slower warps still read
  }
  for (int i = 0; i < 4; ++i) {
    ladder::store_vec4(p, origin.row + row + i, origin.col + col, sum[i]);
  }
}

}  // namespace tessera::tile_4x4
