// Rung 23: shared blocks are laid out as the lanes read them: A with contiguous columns, B with
// contiguous rows.
//
// Rung 22 was limited by bank conflicts on B. Here no shared load has conflicts. A is packed
// transposed, so it is copied to shared memory unchanged. B keeps its packed order and is
// transposed by its store to shared memory, which costs 8 wavefronts per warp instead of 2, but
// only once per block where the loads had paid 8 times. With lanes_down, A is transposed instead.
#include "ladder/23_packed_conflict_free/config.h"
#include "ladder/shared/packed.h"

namespace tessera::packed_conflict_free {

using ladder::PackedOrder;
constexpr PackedOrder order_a(Config c) {
  return c.lanes_down ? PackedOrder::kRows : PackedOrder::kRowsTransposed;
}
inline constexpr PackedOrder kOrderB = PackedOrder::kColumnsTransposed;

template <Config cfg>
__device__ void pack_a(const PackParams& p) {
  ladder::pack<order_a(cfg), cfg.block.k>(p);
}
template <Config cfg>
__device__ void pack_b(const PackParams& p) {
  ladder::pack<kOrderB, cfg.block.k>(p);
}

template <Config cfg>
__device__ void run(const GemmParams& p) {
  constexpr int kEdge = cfg.block.k;        // blocks are square
  __shared__ double block_a[kEdge][kEdge];  // (k, m)
  __shared__ double block_b[kEdge][kEdge];  // (k, n)
  const double* a = static_cast<const double*>(p.a);
  const double* b = static_cast<const double*>(p.b);
  const ladder::BlockOrigin origin = ladder::block_origin(p, cfg.block.m, cfg.block.n);
  const long long i = origin.row / kEdge, j = origin.col / kEdge;
  const auto [row, col] = ladder::place_of_thread<kEdge, cfg.lanes_down>();
  const int slow = threadIdx.x / kEdge, fast = threadIdx.x % kEdge;
  const unsigned from_a = cfg.lanes_down ? fast * kEdge + slow : threadIdx.x;

  double sum = 0;
  for (long long k = 0; k < ladder::blocks_along<kEdge>(p.k); ++k) {
    // Copies one element of A's packed block (along m) and one of B's (along k).
    block_a[slow][fast] = a[ladder::packed_block<order_a(cfg), kEdge>(i, k, p.m, p.k) + from_a];
    block_b[fast][slow] = b[ladder::packed_block<kOrderB, kEdge>(k, j, p.k, p.n) + threadIdx.x];
    __syncthreads();
    for (int l = 0; l < kEdge; ++l) sum += block_a[l][row] * block_b[l][col];
    __syncthreads();  // WHY: the next step overwrites blocks that the other warp still reads
  }
  ladder::store(p, origin.row + row, origin.col + col, sum);
}

}  // namespace tessera::packed_conflict_free
