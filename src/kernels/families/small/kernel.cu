// Batches of small products, of any sizes, strides and layouts. The grid is persistent and has many
// small teams of warps. Each team processes its own sequence of tiles: it loads a tile's operands
// into shared memory, multiplies and stores, while the next tile's operands are being loaded.
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

// A barrier for a team. A team of several warps is the whole CTA.
template <Config cfg>
__device__ void sync_team() {
  if constexpr (cfg.team() == 32) __syncwarp();
  if constexpr (cfg.team() > 32) __syncthreads();
}

// One step of a team: a part of the k of one tile.
template <Config cfg>
struct Step {
  schedule::Addresses product;  // addresses of the tile's product
  unsigned number;              // number of the tile in the batch
  int row, column;              // of the tile in its product, in tiles
  long long k = 0;

  __device__ Step(const Params& p, unsigned tile) : number(tile) { find(p); }

  __device__ bool valid(const Params& p) const { return number < p.all_tiles; }
  __device__ bool is_last_of_tile(const Params& p) const { return k + cfg.block.k >= p.gemm.k; }
  __device__ void advance(const Params& p) {
    k += cfg.block.k;
    if (k < p.gemm.k) return;
    k = 0;
    number += gridDim.x * cfg.teams;
    find(p);
  }

  __device__ GemmParams gemm(const Params& p) const {
    return schedule::with_addresses(p.gemm, product);
  }
  __device__ tile::Coord<long long> corner() const {
    return {static_cast<long long>(row) * cfg.block.m,
            static_cast<long long>(column) * cfg.block.n};
  }

 private:
  __device__ void find(const Params& p) {
    if (!valid(p)) return;
    const unsigned of = p.tiles == 1 ? number : number / p.tiles, in = number - of * p.tiles;
    product = schedule::addresses_of(p.gemm, p.batch, of);
    row = p.tiles == 1 ? 0 : static_cast<int>(in / p.tiles_n);
    column = static_cast<int>(in) - row * static_cast<int>(p.tiles_n);
  }
};

// While a step is multiplied, the next one, of the same or the next tile, is being loaded.
template <Config cfg>
__device__ void run(const Params& p) {
  static_assert(is_legal(cfg));
  using Tile = decltype(tile_of<cfg>());
  __shared__ typename Tile::Stage stages[cfg.teams][2];
  const int team = threadIdx.x / cfg.team(), thread = threadIdx.x % cfg.team();
  Tile tile(tile::warp_coord(cfg.warps, thread));
  Step<cfg> now(p, blockIdx.x * cfg.teams + team);
  const auto start = [&](const Step<cfg>& step, int stage) {
    if (step.valid(p) && p.gemm.k > 0) {
      Tile::start(stages[team][stage], step.gemm(p), step.corner(), step.k, thread);
    }
    ptx::cp_async_commit_group();
  };
  start(now, 0);
  tile.clear();
#pragma unroll 1
  for (int stage = 0; now.valid(p); stage ^= 1) {
    Step<cfg> next = now;
    next.advance(p);
    start(next, stage ^ 1);
    ptx::cp_async_wait_group<1>();
    sync_team<cfg>();
    if (p.gemm.k > 0) tile.multiply(stages[team][stage]);
    if (now.is_last_of_tile(p)) {
      tile.store(now.gemm(p), now.corner());
      tile.clear();
    }
    sync_team<cfg>();  // all threads have read the stage
    now = next;
  }
  ptx::cp_async_wait_all();
}

}  // namespace tessera::small
