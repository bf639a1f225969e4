// Rung 10: tile sizes are a config, and blocks inside the matrix run without a predicate.
//
// Rung 09 checks before every load whether it is inside the matrix. Here a block checks once:
// interior blocks advance a pointer through whole k tiles, blocks at an edge check every load, and
// the k tail is a separate, guarded step in every block. Vectors are held in registers before they
// are transposed into shared memory. Two variants leave out steps of the ladder: `rows_of_a` does
// not transpose A, `scalars` moves words and has no fragments.
#include <type_traits>

#include "ladder/10_general_tile/config.h"
#include "ladder/10_general_tile/scalar_loader.h"
#include "ladder/shared/vec4_loader.h"

namespace tessera::general_tile {

template <Config cfg>
struct Tiles {
  static constexpr bool kIsTransposed = cfg.staging == Staging::kTransposed;
  static constexpr int kRowsOfA = kIsTransposed ? cfg.block.k : cfg.block.m;
  static constexpr int kColumnsOfA = kIsTransposed ? cfg.block.m : cfg.block.k;

  alignas(16) float a[kRowsOfA][kColumnsOfA];     // (k, m), or (m, k) where it is not transposed
  alignas(16) float b[cfg.block.k][cfg.block.n];  // (k, n)
};

// Adds the outer products of one staged tile to the sums.
template <Config cfg>
__device__ void multiply_tile(float (&sum)[cfg.thread.m][cfg.thread.n], const Tiles<cfg>& tiles,
                              int row, int col) {
#pragma unroll
  for (int l = 0; l < cfg.block.k; ++l) {
    float from_a[cfg.thread.m], from_b[cfg.thread.n];
    if constexpr (cfg.staging == Staging::kTransposed) {
      ladder::load_fragment(from_a, &tiles.a[l][row]);
    } else {
#pragma unroll
      for (int i = 0; i < cfg.thread.m; ++i) from_a[i] = ladder::as_written(tiles.a[row + i][l]);
    }
    ladder::load_fragment(from_b, &tiles.b[l][col]);
    ladder::multiply_add(sum, from_a, from_b);
  }
}

// Like multiply_tile(), without fragments: the source reads two words of shared memory per product.
// The compiler may still keep words in registers.
template <Config cfg>
__device__ void multiply_words(float (&sum)[cfg.thread.m][cfg.thread.n], const Tiles<cfg>& tiles,
                               int row, int col) {
#pragma unroll
  for (int l = 0; l < cfg.block.k; ++l) {
#pragma unroll
    for (int i = 0; i < cfg.thread.m; ++i) {
#pragma unroll
      for (int j = 0; j < cfg.thread.n; ++j) {
        sum[i][j] += tiles.a[row + i][l] * tiles.b[l][col + j];
      }
    }
  }
}

template <Config cfg, bool guarded, class LoaderA, class LoaderB>
__device__ void multiply(float (&sum)[cfg.thread.m][cfg.thread.n], Tiles<cfg>& tiles, LoaderA a,
                         LoaderB b, long long k, int row, int col) {
  const auto multiply_fetched = [&] {
    if constexpr (cfg.staging == Staging::kTransposed) {
      a.put(tiles.a);
    } else {
      a.put_rows(tiles.a);
    }
    b.put(tiles.b);
    __syncthreads();
    if constexpr (cfg.staging == Staging::kScalars) {
      multiply_words<cfg>(sum, tiles, row, col);
    } else {
      multiply_tile<cfg>(sum, tiles, row, col);
    }
    __syncthreads();  // WHY: the next step overwrites tiles that slower warps still read
  };
  const long long tail = k / cfg.block.k * cfg.block.k;
#pragma unroll 1
  for (long long l = 0; l < tail; l += cfg.block.k) {
    a.template fetch<guarded>(l);
    b.template fetch<guarded>(l);
    multiply_fetched();
  }
  if (tail < k) {
    a.fetch_guarded(tail);
    b.fetch_guarded(tail);
    multiply_fetched();
  }
}

template <Config cfg, int extent, bool along_k>
using Loader = std::conditional_t<cfg.staging == Staging::kScalars,
                                  ScalarLoader<extent, cfg.block.k, cfg.threads(), along_k>,
                                  ladder::Vec4Loader<extent, cfg.block.k, cfg.threads(), along_k>>;

template <Config cfg>
__device__ void run(const GemmParams& p) {
  static_assert(is_legal(cfg));
  __shared__ Tiles<cfg> tiles;
  const auto a = ladder::operand_a<cfg.majors>(p);
  const auto b = ladder::operand_b<cfg.majors>(p);
  const ladder::BlockOrigin origin = ladder::block_origin(p, cfg.block.m, cfg.block.n);
  const int row = threadIdx.x / cfg.threads_along_n() * cfg.thread.m;
  const int col = threadIdx.x % cfg.threads_along_n() * cfg.thread.n;
  const Loader<cfg, cfg.block.m, cfg.majors.a == Major::kK> load_a(a, origin.row, threadIdx.x);
  const Loader<cfg, cfg.block.n, cfg.majors.b == Major::kK> load_b(b, origin.col, threadIdx.x);

  float sum[cfg.thread.m][cfg.thread.n] = {};
  if (ladder::is_interior(p, origin, cfg.block, a, b)) {
    multiply<cfg, false>(sum, tiles, load_a, load_b, p.k, row, col);
  } else {
    multiply<cfg, true>(sum, tiles, load_a, load_b, p.k, row, col);
  }
#pragma unroll
  for (int i = 0; i < cfg.thread.m; ++i) {
#pragma unroll
    for (int j = 0; j < cfg.thread.n; j += 4) {
      ladder::store_vec4(p, origin.row + row + i, origin.col + col + j, sum[i] + j);
    }
  }
}

}  // namespace tessera::general_tile
