// Batches of small products, of any sizes, strides and layouts. The grid is persistent, and each of
// its many small CTAs takes tile after tile by itself: it brings a tile's operands into shared
// memory, multiplies, and stores. While one waits for memory, the others of its SM multiply.
#include "kernels/families/small/config.h"
#include "kernels/families/small/params.h"
#include "kernels/mainloop/small_dmma.h"
#include "kernels/mainloop/small_ffma.h"
#include "kernels/mainloop/small_mma.h"
#include "kernels/schedule/product_of.h"
#include "kernels/tile/lanes.h"

namespace tessera::small {

template <Config cfg>
__device__ auto tile_of() {
  if constexpr (cfg.by == Arithmetic::kFfma) return mainloop::SmallFfma<cfg>(tile::Coord<>{});
  if constexpr (cfg.by == Arithmetic::kMma) return mainloop::SmallMma<cfg>(tile::Coord<>{});
  if constexpr (cfg.by == Arithmetic::kDmma) return mainloop::SmallDmma<cfg>(tile::Coord<>{});
}

template <Config cfg>
__device__ void run(const Params& p) {
  static_assert(is_legal(cfg));
  using Tile = decltype(tile_of<cfg>());
  __shared__ typename Tile::Stage stage;
  const unsigned tiles = p.tiles * static_cast<unsigned>(p.batch.count);
  const tile::Coord<> warp = tile::warp_coord(cfg.warps, threadIdx.x);
  for (unsigned number = blockIdx.x; number < tiles; number += gridDim.x) {
    const unsigned product = p.tiles == 1 ? number : number / p.tiles;
    const unsigned in_product = number - product * p.tiles;
    const GemmParams gemm =
        schedule::with_addresses(p.gemm, schedule::addresses_of(p.gemm, p.batch, product));
    const tile::Coord<long long> corner{
        static_cast<long long>(in_product / p.tiles_n) * cfg.block.m,
        static_cast<long long>(in_product % p.tiles_n) * cfg.block.n};
    Tile tile(warp);
    for (long long k = 0; k < gemm.k; k += cfg.block.k) {
      Tile::start(stage, gemm, corner, k);
      ptx::cp_async_wait_all();
      __syncthreads();
      tile.multiply(stage);
      __syncthreads();  // all have read the operands
    }
    tile.store(gemm, corner);
  }
}

// One name space for each kernel, whose entries are its rows.
#define TESSERA_KERNEL(name) \
  namespace name {           \
  using small::run;          \
  }
TESSERA_KERNEL(f32)
TESSERA_KERNEL(f64)
TESSERA_KERNEL(bf16)
TESSERA_KERNEL(bf16_f32)
TESSERA_KERNEL(f16)
TESSERA_KERNEL(f16_f32)
#undef TESSERA_KERNEL

}  // namespace tessera::small
