// Rung 31: BF16 on tensor cores through WMMA, the API of CUDA C++.
//
// A warp multiplies 16x16 tiles as a whole: load_matrix_sync loads a fragment from shared memory,
// and mma_sync multiplies two fragments. The distribution of elements over the lanes is
// unspecified, so sums go through shared memory before lanes can store them. Everything else is
// as in rung 10: tiles are copied element by element, with two barriers per tile.
#include <mma.h>

#include "kernels/epilogue/store_pairs.h"
#include "kernels/tile/lanes.h"
#include "ladder/31_wmma/config.h"
#include "ladder/shared/common.h"

namespace tessera::wmma {

namespace api = nvcuda::wmma;
using Element = std::uint16_t;    // the bits of a BF16
inline constexpr int kEdge = 16;  // rows and columns of a fragment
inline constexpr int kPad = 8;    // HW: WMMA needs rows a multiple of 16 bytes apart

using FragmentA = api::fragment<api::matrix_a, kEdge, kEdge, kEdge, __nv_bfloat16, api::row_major>;
using FragmentB = api::fragment<api::matrix_b, kEdge, kEdge, kEdge, __nv_bfloat16, api::col_major>;
using Sum = api::fragment<api::accumulator, kEdge, kEdge, kEdge, float>;

template <Config cfg>
struct Shared {
  alignas(32) Element a[cfg.block.m][cfg.block.k + kPad];  // (m, k)
  alignas(32) Element b[cfg.block.n][cfg.block.k + kPad];  // (n, k): fragments are read along k
  alignas(32) float sums[cfg.threads() / 32][kEdge][kEdge];
};

__device__ ladder::Strided<Element> transposed(const ladder::Strided<Element>& m) {
  return {m.data, m.cols, m.rows, m.col, m.row};
}

// Copies a tile; neighbouring threads read neighbours in memory, for either contiguous index.
template <int threads, int rows, int cols>
__device__ void copy_tile(Element (&tile)[rows][cols + kPad], const ladder::Strided<Element>& from,
                          long long row, long long col) {
  const bool along_cols = from.col == 1;
#pragma unroll 8
  for (int i = 0; i < rows * cols / threads; ++i) {
    const int e = i * threads + static_cast<int>(threadIdx.x);
    const int r = along_cols ? e / cols : e % rows, c = along_cols ? e % cols : e / rows;
    tile[r][c] = from.at_or_zero(row + r, col + c);
  }
}

template <int pitch>
__device__ const __nv_bfloat16* fragment_at(const Element (&row)[pitch], int col) {
  return reinterpret_cast<const __nv_bfloat16*>(&row[col]);
}

template <Config cfg>
using Sums = Sum[cfg.warp().m / kEdge][cfg.warp().n / kEdge];

// Multiplies one tile. Each fragment of A is loaded once and used for all columns of the warp.
template <Config cfg>
__device__ void multiply(Sums<cfg>& sums, const Shared<cfg>& shared, tile::Coord<> at) {
  FragmentB b[cfg.warp().n / kEdge];
#pragma unroll
  for (int k = 0; k < cfg.block.k; k += kEdge) {
#pragma unroll
    for (int j = 0; j < cfg.warp().n / kEdge; ++j) {
      api::load_matrix_sync(b[j], fragment_at(shared.b[at.n + j * kEdge], k), cfg.block.k + kPad);
    }
#pragma unroll
    for (int i = 0; i < cfg.warp().m / kEdge; ++i) {
      FragmentA a;
      api::load_matrix_sync(a, fragment_at(shared.a[at.m + i * kEdge], k), cfg.block.k + kPad);
#pragma unroll
      for (int j = 0; j < cfg.warp().n / kEdge; ++j) api::mma_sync(sums[i][j], a, b[j], sums[i][j]);
    }
  }
}

// Visits 16x16 sums in shared memory, two neighbours at a time.
struct Patch {
  const float (&sums)[kEdge][kEdge];

  template <class Visit>
  __device__ void for_each_pair(int lane, Visit visit) const {
    for (int e = 2 * lane; e < kEdge * kEdge; e += 64) {
      const int r = e / kEdge, c = e % kEdge;
      visit(r, c, tile::Pair{sums[r][c], sums[r][c + 1]});
    }
  }
};

template <Config cfg>
__device__ void store(const GemmParams& p, Sums<cfg>& sums, float (&own)[kEdge][kEdge],
                      long long row, long long col) {
#pragma unroll
  for (int i = 0; i < cfg.warp().m / kEdge; ++i) {
#pragma unroll
    for (int j = 0; j < cfg.warp().n / kEdge; ++j) {
      api::store_matrix_sync(&own[0][0], sums[i][j], kEdge, api::mem_row_major);
      __syncwarp();
      const long long r = row + i * kEdge, c = col + j * kEdge;
      if (p.beta == 0) {
        epilogue::store_fragments<ElementType::kBf16, false>(Patch{own}, p, r, c);
      } else {
        epilogue::store_fragments<ElementType::kBf16, true>(Patch{own}, p, r, c);
      }
      __syncwarp();
    }
  }
}

template <Config cfg>
__device__ void run(const GemmParams& p) {
  static_assert(is_legal(cfg));
  __shared__ Shared<cfg> shared;
  const ladder::BlockOrigin origin = ladder::block_origin(p, cfg.block.m, cfg.block.n);
  const tile::Coord<> warp = tile::warp_coord(cfg.warps, threadIdx.x);
  const tile::Coord<> at{warp.m * cfg.warp().m, warp.n * cfg.warp().n};
  Sums<cfg> sums;
#pragma unroll
  for (auto& row : sums) {
#pragma unroll
    for (Sum& sum : row) api::fill_fragment(sum, 0.0F);
  }
  const auto a = ladder::matrix_a<Element>(p);
  const auto b = transposed(ladder::matrix_b<Element>(p));
  for (long long k = 0; k < p.k; k += cfg.block.k) {
    copy_tile<cfg.threads(), cfg.block.m, cfg.block.k>(shared.a, a, origin.row, k);
    copy_tile<cfg.threads(), cfg.block.n, cfg.block.k>(shared.b, b, origin.col, k);
    __syncthreads();
    multiply<cfg>(sums, shared, at);
    __syncthreads();
  }
  store<cfg>(p, sums, shared.sums[threadIdx.x / 32], origin.row + at.m, origin.col + at.n);
}

}  // namespace tessera::wmma
