// Rung 22: the two packed blocks of a step are staged in shared memory by all threads of the block.
//
// Rung 21 was limited by reading each element 8 times from global memory. Now a thread block reads
// it once. Packed blocks keep their order, though: B is k-contiguous while the lanes walk its
// columns, 64 bytes apart, which gives 4-way bank conflicts. Rung 23 removes them. With lanes_down
// both blocks are stored by rows, and the lanes walk the rows of A, which conflict in the same way.
#include "ladder/22_packed_shared/config.h"
#include "ladder/shared/packed.h"

namespace tessera::packed_shared {

using ladder::PackedOrder;
inline constexpr PackedOrder kOrderA = PackedOrder::kRows;
inline constexpr PackedOrder kOrderB = PackedOrder::kColumnsTransposed;

template <Config cfg>
__device__ void pack_a(const PackParams& p) {
  ladder::pack<kOrderA, cfg.block.k>(p);
}
template <Config cfg>
__device__ void pack_b(const PackParams& p) {
  ladder::pack<kOrderB, cfg.block.k>(p);
}

// The position of element (l, col) of B in its shared block.
template <Config cfg>
__device__ constexpr int shared_element_b(int l, int col) {
  constexpr PackedOrder order = cfg.lanes_down ? PackedOrder::kRows : kOrderB;
  return ladder::packed_element<order, cfg.block.k>(l, col);
}

template <Config cfg>
__device__ void run(const GemmParams& p) {
  constexpr int kEdge = cfg.block.k;         // blocks are square
  __shared__ double block_a[kEdge * kEdge];  // (m, k) inside, as packed
  __shared__ double block_b[kEdge * kEdge];  // (n, k) inside, as packed; (k, n) with lanes_down
  const double* a = static_cast<const double*>(p.a);
  const double* b = static_cast<const double*>(p.b);
  const ladder::BlockOrigin origin = ladder::block_origin(p, cfg.block.m, cfg.block.n);
  const long long i = origin.row / kEdge, j = origin.col / kEdge;
  const auto [row, col] = ladder::place_of_thread<kEdge, cfg.lanes_down>();
  // The positions, in the packed and in the shared blocks, of the elements that this thread copies.
  const unsigned from_a =
      cfg.lanes_down ? ladder::packed_element<kOrderA, kEdge>(row, col) : threadIdx.x;
  const unsigned to_b = cfg.lanes_down ? shared_element_b<cfg>(row, col) : threadIdx.x;

  double sum = 0;
  for (long long k = 0; k < ladder::blocks_along<kEdge>(p.k); ++k) {
    block_a[from_a] = a[ladder::packed_block<kOrderA, kEdge>(i, k, p.m, p.k) + from_a];
    block_b[to_b] = b[ladder::packed_block<kOrderB, kEdge>(k, j, p.k, p.n) + threadIdx.x];
    __syncthreads();
    for (int l = 0; l < kEdge; ++l) {
      sum += block_a[ladder::packed_element<kOrderA, kEdge>(row, l)] *
             block_b[shared_element_b<cfg>(l, col)];
    }
    __syncthreads();  // WHY: the next step overwrites blocks that the other warp still reads
  }
  ladder::store(p, origin.row + row, origin.col + col, sum);
}

}  // namespace tessera::packed_shared
