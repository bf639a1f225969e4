// Computes a tile of D by FFMAs, for operands with any strides and alignments. Elements are copied
// to shared memory one at a time and converted to float. Slow, but correct for all operands.
#pragma once

#include "kernels/copy/strided_operand.h"
#include "kernels/tile/coord.h"

namespace tessera::mainloop {

using copy::StridedOperand;

// A tile in shared memory, (k, outer); elements outside of the matrix are zeros. `load(data, at)`
// returns element `at` as a float.
template <auto cfg, int outer>
struct StridedTile {
  float x[cfg.block.k][cfg.pitch(outer)];

  // Neighbouring threads copy neighbours in memory.
  template <class Load>
  __device__ void copy(const StridedOperand& from, long long first_outer, long long first_k,
                       Load load) {
    constexpr int kOfThread = outer * cfg.block.k / cfg.threads();
    static_assert(outer * cfg.block.k % cfg.threads() == 0);
    const bool along_k = from.by_k == 1;
    const auto place = [&](int i) {
      const int number = threadIdx.x + i * cfg.threads();
      return along_k ? tile::Coord<>{number / cfg.block.k, number % cfg.block.k}
                     : tile::Coord<>{number % outer, number / outer};
    };
    float kept[kOfThread];  // WHY an array: all loads are in flight at the same time
#pragma unroll
    for (int i = 0; i < kOfThread; ++i) {
      const long long in_outer = first_outer + place(i).m, in_k = first_k + place(i).n;
      const bool inside = in_outer < from.outer && in_k < from.k;
      kept[i] = inside ? load(from.data, in_outer * from.by_outer + in_k * from.by_k) : 0.0f;
    }
#pragma unroll
    for (int i = 0; i < kOfThread; ++i) x[place(i).n][place(i).m] = kept[i];
  }
};

template <auto cfg>
struct StridedTiles {
  StridedTile<cfg, cfg.block.m> a;
  StridedTile<cfg, cfg.block.n> b;
};

// A thread's outputs are thread_grid() apart, so that lanes read the same or adjacent words.
template <auto cfg>
struct StridedSums {
  float sum[cfg.thread.m][cfg.thread.n] = {};

  __device__ static int row() { return threadIdx.x / cfg.thread_grid().n; }
  __device__ static int column() { return threadIdx.x % cfg.thread_grid().n; }

  // Adds the products of a tile to the sums.
  __device__ void multiply(const StridedTiles<cfg>& tiles) {
    const int r = row(), c = column();
#pragma unroll
    for (int k = 0; k < cfg.block.k; ++k) {
#pragma unroll
      for (int i = 0; i < cfg.thread.m; ++i) {
#pragma unroll
        for (int j = 0; j < cfg.thread.n; ++j) {
          sum[i][j] +=
              tiles.a.x[k][r + i * cfg.thread_grid().m] * tiles.b.x[k][c + j * cfg.thread_grid().n];
        }
      }
    }
  }

  // Adds `other`, the sums of a part of k, to these sums, and sets `other` to zero.
  __device__ void add(StridedSums& other) {
#pragma unroll
    for (int i = 0; i < cfg.thread.m; ++i) {
#pragma unroll
      for (int j = 0; j < cfg.thread.n; ++j) {
        sum[i][j] += other.sum[i][j];
        other.sum[i][j] = 0;
      }
    }
  }

  // Calls store(sum, row, column) for each sum, with its position in the tile.
  template <class Store>
  __device__ void for_each(Store store) const {
    for (int i = 0; i < cfg.thread.m; ++i) {
      for (int j = 0; j < cfg.thread.n; ++j) {
        store(sum[i][j], row() + i * cfg.thread_grid().m, column() + j * cfg.thread_grid().n);
      }
    }
  }
};

// Returns the sums of the tile that begins at `at`. `sync()` is a barrier of cfg's threads. Sums
// over chain_k of k are computed separately and then added to the total; chain_k 0: a single sum.
template <auto cfg, int chain_k, class Load, class Sync>
__device__ StridedSums<cfg> multiply_strided(StridedTiles<cfg>& tiles, const StridedOperand& a,
                                             const StridedOperand& b, tile::Coord<long long> at,
                                             Load load, Sync sync) {
  static_assert(chain_k % cfg.block.k == 0);
  StridedSums<cfg> all, chain;
  for (long long k = 0; k < a.k; k += cfg.block.k) {
    tiles.a.copy(a, at.m, k, load);
    tiles.b.copy(b, at.n, k, load);
    sync();  // the tiles have been copied
    if constexpr (chain_k == 0) {
      all.multiply(tiles);
    } else {
      chain.multiply(tiles);
      if ((k + cfg.block.k) % chain_k == 0) all.add(chain);
    }
    sync();  // all threads have read the tiles
  }
  if constexpr (chain_k > 0) all.add(chain);
  return all;
}

}  // namespace tessera::mainloop
