// Rung 24: the FP64 tensor core multiplies; one warp computes one 8x8 tile.
//
// Rung 23 was limited by shared wavefronts: two shared loads and one DFMA per multiply-add. One
// warp-wide 8x8x4 matrix instruction does 256 multiply-adds. The block has exactly one warp: in a
// published version two warps computed the same tile and raced on C. That version also staged A
// and B in shared memory; the variant `staged` does the same.
#include <mma.h>

#include "ladder/24_tensor_core_wmma/config.h"
#include "ladder/shared/packed.h"

namespace tessera::tensor_core_wmma {

namespace wmma = nvcuda::wmma;
using ladder::PackedOrder;
inline constexpr PackedOrder kOrderA = PackedOrder::kRows;
inline constexpr PackedOrder kOrderB = PackedOrder::kColumnsTransposed;
inline constexpr int kDepth = 4;  // k of one 8x8x4 instruction

template <Config cfg>
__device__ void pack_a(const PackParams& p) {
  ladder::pack<kOrderA, cfg.block.k>(p);
}
template <Config cfg>
__device__ void pack_b(const PackParams& p) {
  ladder::pack<kOrderB, cfg.block.k>(p);
}

// The warp copies one packed block into shared memory.
template <int elements>
__device__ void copy_block(double (&to)[elements], const double* from) {
#pragma unroll
  for (int e = 0; e < elements; e += 32) to[e + threadIdx.x] = from[e + threadIdx.x];
}

template <Config cfg>
__device__ void run(const GemmParams& p) {
  constexpr int kEdge = cfg.block.k;        // blocks are square
  __shared__ double tile_d[kEdge * kEdge];  // (m, n)
  const double* a = static_cast<const double*>(p.a);
  const double* b = static_cast<const double*>(p.b);
  const ladder::BlockOrigin origin = ladder::block_origin(p, cfg.block.m, cfg.block.n);
  const long long i = origin.row / kEdge, j = origin.col / kEdge;

  wmma::fragment<wmma::matrix_a, kEdge, kEdge, kDepth, double, wmma::row_major> from_a;  // (m, k)
  wmma::fragment<wmma::matrix_b, kEdge, kEdge, kDepth, double, wmma::col_major> from_b;  // (k, n)
  wmma::fragment<wmma::accumulator, kEdge, kEdge, kDepth, double> sum;                   // (m, n)
  wmma::fill_fragment(sum, 0.0);
  for (long long k = 0; k < ladder::blocks_along<kEdge>(p.k); ++k) {
    const double* block_a = a + ladder::packed_block<kOrderA, kEdge>(i, k, p.m, p.k);
    const double* block_b = b + ladder::packed_block<kOrderB, kEdge>(k, j, p.k, p.n);
    if constexpr (cfg.staged) {
      __shared__ double staged_a[kEdge * kEdge], staged_b[kEdge * kEdge];  // as packed
      __syncwarp();  // WHY: lanes may still read the blocks of the last step
      copy_block(staged_a, block_a);
      copy_block(staged_b, block_b);
      __syncwarp();
      block_a = staged_a;
      block_b = staged_b;
    }
    for (int half = 0; half < kEdge; half += kDepth) {
      wmma::load_matrix_sync(from_a, block_a + half, kEdge);  // packed rows: k is contiguous
      wmma::load_matrix_sync(from_b, block_b + half, kEdge);  // packed columns: k is contiguous
      wmma::mma_sync(sum, from_a, from_b, sum);
    }
  }
  wmma::store_matrix_sync(tile_d, sum, kEdge, wmma::mem_row_major);
  __syncwarp();
  for (int e = threadIdx.x; e < kEdge * kEdge; e += cfg.threads()) {
    ladder::store(p, origin.row + e / kEdge, origin.col + e % kEdge, tile_d[e]);
  }
}

}  // namespace tessera::tensor_core_wmma
