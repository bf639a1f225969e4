// Rung 12: the lanes of a warp form a compact patch of 8 x 4, and a thread owns four 4x4 subtiles.
//
// Rung 11 was limited by shared wavefronts: a lane owns 8 neighbouring columns, so the lanes' loads
// begin 32 bytes apart and conflict 2-way. Here a lane owns 4 neighbouring columns, and the lanes
// read one contiguous run of words. A fragment of 8 takes two such reads, a fixed distance apart.
// Everything else is as in rung 11.
#include "ladder/12_warp_tile/config.h"
#include "ladder/12_warp_tile/output.h"
#include "ladder/shared/vec4_loader.h"

namespace tessera::warp_tile {

template <Config cfg>
struct Stage {
  alignas(16) float a[cfg.block.k][cfg.block.m];  // (k, m)
  alignas(16) float b[cfg.block.k][cfg.block.n];  // (k, n)
};

template <Config cfg>
struct Fragments {
  float a[2][tile::kSubtile], b[2][tile::kSubtile];  // two subtiles along m, two along n

  __device__ void load(const Stage<cfg>& stage, int l, tile::Coord<> at) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      ladder::load_fragment(a[half], &stage.a[l][at.m + half * cfg.warp.distance.m]);
      ladder::load_fragment(b[half], &stage.b[l][at.n + half * cfg.warp.distance.n]);
    }
  }
};

template <Config cfg>
__device__ void multiply_add(float (&sum)[8][8], const Fragments<cfg>& f) {
#pragma unroll
  for (int i = 0; i < 8; ++i) {
#pragma unroll
    for (int j = 0; j < 8; ++j) sum[i][j] += f.a[i / 4][i % 4] * f.b[j / 4][j % 4];
  }
}

// Fetches the vectors of this thread: from both tiles, or from one tile only.
template <Config cfg, class LoaderA, class LoaderB>
struct Loaders {
  LoaderA a;
  LoaderB b;
  bool fetches_a, fetches_b;

  template <bool guarded>
  __device__ void fetch(long long k) {
    if (fetches_a) a.template fetch<guarded>(k);
    if (fetches_b) b.template fetch<guarded>(k);
  }
  __device__ void fetch_guarded(long long k) {
    if (fetches_a) a.fetch_guarded(k);
    if (fetches_b) b.fetch_guarded(k);
  }
  __device__ void put(Stage<cfg>& stage) const {
    if (fetches_a) a.put(stage.a);
    if (fetches_b) b.put(stage.b);
  }
};

template <Config cfg, bool guarded, class Loaders>
__device__ void multiply(float (&sum)[8][8], Stage<cfg> (&stages)[2], Loaders loaders, long long k,
                         tile::Coord<> at) {
  constexpr int depth = cfg.block.k;
  const long long last_tile = (k - 1) / depth * depth;
  loaders.fetch_guarded(last_tile);
  loaders.put(stages[0]);
  __syncthreads();

  int current = 0;
  Fragments<cfg> fragments[2];  // slice l is in set l % 2
  fragments[0].load(stages[current], 0, at);
#pragma unroll 1
  for (long long tile = 0; tile < last_tile; tile += depth) {
    loaders.template fetch<guarded>(tile);
#pragma unroll
    for (int l = 0; l < depth; ++l) {
      if (l + 1 == depth) {
        loaders.put(stages[current ^ 1]);
        __syncthreads();  // the other stage is full, and no warp reads this one any more
        current ^= 1;
      }
      fragments[(l + 1) % 2].load(stages[current], (l + 1) % depth, at);
      multiply_add(sum, fragments[l % 2]);
    }
  }
#pragma unroll
  for (int l = 0; l < depth; ++l) {
    if (l + 1 < depth) fragments[(l + 1) % 2].load(stages[current], l + 1, at);
    multiply_add(sum, fragments[l % 2]);
  }
}

template <Config cfg>
__device__ auto make_loaders(const GemmParams& p, ladder::BlockOrigin origin) {
  constexpr bool half_each = cfg.fetch == Fetch::kHalfEach;
  using LoaderA =
      ladder::Vec4Loader<cfg.block.m, cfg.block.k, cfg.fetchers(), cfg.majors.a == Major::kK>;
  using LoaderB =
      ladder::Vec4Loader<cfg.block.n, cfg.block.k, cfg.fetchers(), cfg.majors.b == Major::kK>;
  const int fetcher = threadIdx.x % cfg.fetchers();
  const bool first_half = threadIdx.x < cfg.fetchers();
  return Loaders<cfg, LoaderA, LoaderB>{
      LoaderA(ladder::operand_a<cfg.majors>(p), origin.row, fetcher),
      LoaderB(ladder::operand_b<cfg.majors>(p), origin.col, fetcher), !half_each || first_half,
      !half_each || !first_half};
}

template <Config cfg>
__device__ void run(const GemmParams& p) {
  static_assert(is_legal(cfg));
  __shared__ Stage<cfg> stages[2];
  const ladder::BlockOrigin origin = ladder::block_origin(p, cfg.block.m, cfg.block.n);
  const tile::Coord<> at = tile::subtile_origin(cfg.warp, threadIdx.x);
  const auto loaders = make_loaders<cfg>(p, origin);

  float sum[8][8] = {};
  const bool interior = ladder::is_interior(p, origin, cfg.block, ladder::operand_a<cfg.majors>(p),
                                            ladder::operand_b<cfg.majors>(p));
  if (p.k > 0 && interior) {
    multiply<cfg, false>(sum, stages, loaders, p.k, at);
  } else if (p.k > 0) {
    multiply<cfg, true>(sum, stages, loaders, p.k, at);
  }
  if constexpr (cfg.output == Output::kDirect) {
    store_direct<cfg>(p, origin, at, sum);
  } else {
    static_assert(sizeof stages >= kOutputRows * cfg.block.n * sizeof(float));
    store_staged<cfg>(p, origin, at, sum, reinterpret_cast<float*>(stages));
  }
}

}  // namespace tessera::warp_tile
