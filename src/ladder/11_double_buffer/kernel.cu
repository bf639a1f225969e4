// Rung 11: the next tile is fetched while one tile is multiplied.
//
// Rung 10 stalls twice per tile: for global memory, and for the first fragments after a barrier.
// Now the vectors of tile t + 1 are fetched before tile t is multiplied, and stored into the other
// of two shared stages. The fragments of slice l + 1 are read before slice l is multiplied. One
// barrier per tile is enough. The last tile in k, the only one that may be partial, is multiplied
// first, so the loop over the other tiles needs no guard in k. The loop's last iteration is peeled,
// because there is no next tile to fetch.
#include "ladder/11_double_buffer/config.h"
#include "ladder/shared/vec4_loader.h"

namespace tessera::double_buffer {

template <Config cfg>
struct Stage {
  alignas(16) float a[cfg.block.k][cfg.block.m];  // (k, m)
  alignas(16) float b[cfg.block.k][cfg.block.n];  // (k, n)
};

template <Config cfg>
struct Fragments {
  float a[cfg.thread.m], b[cfg.thread.n];

  __device__ void load(const Stage<cfg>& stage, int l, int row, int col) {
    ladder::load_fragment(a, &stage.a[l][row]);
    ladder::load_fragment(b, &stage.b[l][col]);
  }
};

template <Config cfg, bool guarded, class LoaderA, class LoaderB>
__device__ void multiply(float (&sum)[cfg.thread.m][cfg.thread.n], Stage<cfg> (&stages)[2],
                         LoaderA load_a, LoaderB load_b, long long k, int row, int col) {
  constexpr int depth = cfg.block.k;
  const long long last_tile = (k - 1) / depth * depth;
  load_a.fetch_guarded(last_tile);
  load_b.fetch_guarded(last_tile);
  load_a.put(stages[0].a);
  load_b.put(stages[0].b);
  __syncthreads();

  int current = 0;
  Fragments<cfg> fragments[2];  // slice l is in set l % 2
  fragments[0].load(stages[current], 0, row, col);
#pragma unroll 1
  for (long long tile = 0; tile < last_tile; tile += depth) {
    load_a.template fetch<guarded>(tile);
    load_b.template fetch<guarded>(tile);
#pragma unroll
    for (int l = 0; l < depth; ++l) {
      if (l + 1 == depth) {
        load_a.put(stages[current ^ 1].a);
        load_b.put(stages[current ^ 1].b);
        __syncthreads();  // the other stage is full, and no warp reads this one any more
        current ^= 1;
      }
      fragments[(l + 1) % 2].load(stages[current], (l + 1) % depth, row, col);
      ladder::multiply_add(sum, fragments[l % 2].a, fragments[l % 2].b);
    }
  }
#pragma unroll
  for (int l = 0; l < depth; ++l) {
    if (l + 1 < depth) fragments[(l + 1) % 2].load(stages[current], l + 1, row, col);
    ladder::multiply_add(sum, fragments[l % 2].a, fragments[l % 2].b);
  }
}

template <Config cfg>
__device__ void run(const GemmParams& p) {
  static_assert(is_legal(cfg));
  __shared__ Stage<cfg> stages[Config::kStages];
  const auto a = ladder::operand_a<cfg.majors>(p);
  const auto b = ladder::operand_b<cfg.majors>(p);
  const ladder::BlockOrigin origin = ladder::block_origin(p, cfg.block.m, cfg.block.n);
  const int row = threadIdx.x / cfg.threads_along_n() * cfg.thread.m;
  const int col = threadIdx.x % cfg.threads_along_n() * cfg.thread.n;
  const ladder::Vec4Loader<cfg.block.m, cfg.block.k, cfg.threads(), cfg.majors.a == Major::kK>
      load_a(a, origin.row, threadIdx.x);
  const ladder::Vec4Loader<cfg.block.n, cfg.block.k, cfg.threads(), cfg.majors.b == Major::kK>
      load_b(b, origin.col, threadIdx.x);

  float sum[cfg.thread.m][cfg.thread.n] = {};
  if (p.k > 0 && ladder::is_interior(p, origin, cfg.block, a, b)) {
    multiply<cfg, false>(sum, stages, load_a, load_b, p.k, row, col);
  } else if (p.k > 0) {
    multiply<cfg, true>(sum, stages, load_a, load_b, p.k, row, col);
  }
#pragma unroll
  for (int i = 0; i < cfg.thread.m; ++i) {
#pragma unroll
    for (int j = 0; j < cfg.thread.n; j += 4) {
      ladder::store_vec4(p, origin.row + row + i, origin.col + col + j, sum[i] + j);
    }
  }
}

}  // namespace tessera::double_buffer
