// Rung 24: the FP64 tensor core multiplies; one warp computes one 8x8 tile.
//
// Rung 23 was limited by issue slots: two shared loads and one DFMA for each multiply-add. A
// warp-wide 8x8x4 matrix instruction does 256 of them. The block has exactly one warp: a published
// version ran two warps that both computed the same tile and raced on C.
#include <mma.h>

#include "ladder/24_tensor_core_wmma/config.h"
#include "ladder/shared/packed.h"

namespace tessera::tensor_core_wmma {

namespace wmma = nvcuda::wmma;
using ladder::kBlockElements, ladder::kEdge, ladder::PackedOrder;
inline constexpr PackedOrder kOrderA = PackedOrder::kRows;
inline constexpr PackedOrder kOrderB = PackedOrder::kColumnsTransposed;
inline constexpr int kDepth = 4;  // k of one 8x8x4 instruction

template <Config cfg>
__device__ void pack_a(const PackParams& p) {
  ladder::pack<kOrderA>(p);
}
template <Config cfg>
__device__ void pack_b(const PackParams& p) {
  ladder::pack<kOrderB>(p);
}

template <Config cfg>
__device__ void run(const GemmParams& p) {
  __shared__ double tile_d[kBlockElements];  // (m, n)
  const double* a = static_cast<const double*>(p.a);
  const double* b = static_cast<const double*>(p.b);
  const ladder::BlockOrigin origin = ladder::block_origin(p, cfg.block.m, cfg.block.n);
  const long long i = origin.row / kEdge, j = origin.col / kEdge;

  wmma::fragment<wmma::matrix_a, kEdge, kEdge, kDepth, double, wmma::row_major> from_a;  // (m, k)
  wmma::fragment<wmma::matrix_b, kEdge, kEdge, kDepth, double, wmma::col_major> from_b;  // (k, n)
  wmma::fragment<wmma::accumulator, kEdge, kEdge, kDepth, double> sum;                   // (m, n)
  wmma::fill_fragment(sum, 0.0);
  for (long long k = 0; k < ladder::blocks_along(p.k); ++k) {
    const double* block_a = a + ladder::packed_block<kOrderA>(i, k, p.m, p.k);
    const double* block_b = b + ladder::packed_block<kOrderB>(k, j, p.k, p.n);
    for (int half = 0; half < kEdge; half += kDepth) {
      wmma::load_matrix_sync(from_a, block_a + half, kEdge);  // packed rows: k is contiguous
      wmma::load_matrix_sync(from_b, block_b + half, kEdge);  // packed columns: k is contiguous
      wmma::mma_sync(sum, from_a, from_b, sum);
    }
  }
  wmma::store_matrix_sync(tile_d, sum, kEdge, wmma::mem_row_major);
  __syncwarp();
  for (int e = threadIdx.x; e < kBlockElements; e += cfg.threads()) {
    ladder::store(p, origin.row + e / kEdge, origin.col + e % kEdge, tile_d[e]);
  }
}

}  // namespace tessera::tensor_core_wmma
