// Code that rungs 21-24 share: operands are copied into arrays of edge x edge blocks, each block
// contiguous and padded with zeros, so that the multiply kernels need no guards for A and B. The
// time of such a rung includes packing.
#pragma once

#include "base/config.h"
#include "ladder/shared/common.h"

namespace tessera::ladder {

// The order of blocks, and of the elements inside a block, in a packed array.
enum class PackedOrder {
  kRows,               // blocks row by row; elements of a block row by row
  kRowsTransposed,     // blocks row by row; elements of a block column by column
  kColumnsTransposed,  // blocks column by column; elements of a block column by column
};

template <int edge>
__device__ long long blocks_along(long long extent) {
  return (extent + edge - 1) / edge;
}

// The position at which block (i, j) begins in a packed matrix of rows x cols elements.
template <PackedOrder order, int edge>
__device__ long long packed_block(long long i, long long j, long long rows, long long cols) {
  const long long number = order == PackedOrder::kColumnsTransposed
                               ? j * blocks_along<edge>(rows) + i
                               : i * blocks_along<edge>(cols) + j;
  return number * edge * edge;
}

// The position of element (r, c) in its block.
template <PackedOrder order, int edge>
__device__ constexpr int packed_element(int r, int c) {
  return order == PackedOrder::kRows ? r * edge + c : c * edge + r;
}

// An element of a square block. place_of_thread() returns the element that a thread computes:
// consecutive threads have consecutive elements of a row or, with lanes_down, of a column.
struct Place {
  int row, col;
};
template <int edge, bool lanes_down>
__device__ Place place_of_thread() {
  const int slow = threadIdx.x / edge, fast = threadIdx.x % edge;
  return lanes_down ? Place{fast, slow} : Place{slow, fast};
}

// Fills the packed array, one element per thread; consecutive threads write consecutive elements.
template <PackedOrder order, int edge>
__device__ void pack(const PackParams& p) {
  const Strided<double> source{static_cast<const double*>(p.source), p.rows, p.cols, p.row_stride,
                               p.col_stride};
  double* packed = static_cast<double*>(p.packed);
  constexpr int kElements = edge * edge;  // per block
  const long long blocks_down = blocks_along<edge>(p.rows);
  const long long blocks_across = blocks_along<edge>(p.cols);
  const long long elements = blocks_down * blocks_across * kElements;
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long e = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; e < elements;
       e += step) {
    const long long block = e / kElements;
    const int inside = static_cast<int>(e % kElements);
    constexpr bool by_columns = order == PackedOrder::kColumnsTransposed;
    const long long i = by_columns ? block % blocks_down : block / blocks_across;
    const long long j = by_columns ? block / blocks_down : block % blocks_across;
    constexpr bool transposed = order != PackedOrder::kRows;
    const int r = transposed ? inside % edge : inside / edge;
    const int c = transposed ? inside / edge : inside % edge;
    packed[e] = source.at_or_zero(i * edge + r, j * edge + c);
  }
}

}  // namespace tessera::ladder
