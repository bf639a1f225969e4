// Rung 21: A and B are first copied into arrays of 8x8 blocks; then a thread block walks along a
// row of A's blocks and a column of B's. A packed block is 512 contiguous bytes for any ld, and
// zeros pad the edges, so the inner loop has no guard. Limit: every element is still read from
// global memory 8 times.
#include "ladder/21_packed_blocks/config.h"
#include "ladder/shared/packed.h"

namespace tessera::packed_blocks {

using ladder::PackedOrder;
inline constexpr PackedOrder kOrderA = PackedOrder::kRows;
constexpr PackedOrder order_b(Config c) {
  return c.transpose_b ? PackedOrder::kColumnsTransposed : PackedOrder::kRows;
}

template <Config cfg>
__device__ void pack_a(const PackParams& p) {
  ladder::pack<kOrderA, cfg.block.k>(p);
}
template <Config cfg>
__device__ void pack_b(const PackParams& p) {
  ladder::pack<order_b(cfg), cfg.block.k>(p);
}

template <Config cfg>
__device__ void run(const GemmParams& p) {
  constexpr int kEdge = cfg.block.k;                  // blocks are square
  const double* a = static_cast<const double*>(p.a);  // packed (m, k)
  const double* b = static_cast<const double*>(p.b);  // packed (k, n)
  const ladder::BlockOrigin origin = ladder::block_origin(p, cfg.block.m, cfg.block.n);
  const long long i = origin.row / kEdge, j = origin.col / kEdge;
  const auto [row, col] = ladder::place_of_thread<kEdge, cfg.lanes_down>();

  double sum = 0;
  for (long long k = 0; k < ladder::blocks_along<kEdge>(p.k); ++k) {
    const double* block_a = a + ladder::packed_block<kOrderA, kEdge>(i, k, p.m, p.k);
    const double* block_b = b + ladder::packed_block<order_b(cfg), kEdge>(k, j, p.k, p.n);
    for (int l = 0; l < kEdge; ++l) {
      sum += block_a[ladder::packed_element<kOrderA, kEdge>(row, l)] *
             block_b[ladder::packed_element<order_b(cfg), kEdge>(l, col)];
    }
  }
  ladder::store(p, origin.row + row, origin.col + col, sum);
}

}  // namespace tessera::packed_blocks
