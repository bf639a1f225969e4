// Parameter blocks of the kernels, which the host writes byte for byte into a kernel's parameter
// space. Plain data with the same layout for the host compiler and nvcc; includes nothing.
//
// Every kernel sees one canonical problem: D(m, n) = alpha * A(m, k) * B(k, n) + beta * C(m, n)
// with the columns of C and D adjacent in memory ("row-major"). A column-major call is the same
// problem with the operands exchanged, so no kernel needs to know the caller's order.
#pragma once

namespace tessera {

// Sizes and strides count elements. Element (r, c) of X is x[r * x_row + c * x_col]. If alpha == 0
// or k == 0 the host passes k = 0 and alpha = 0: A and B are then never read.
struct GemmParams {
  const void* a;
  const void* b;
  const void* c;  // read only when beta != 0
  void* d;        // may be c (then d_row == c_row)
  long long m, n, k;
  long long a_row, a_col;
  long long b_row, b_col;
  long long c_row;
  long long d_row;
  double alpha, beta;  // a float kernel rounds them to float: exact, since they came from floats
};

// A tensor map, opaque: the host encodes a tensor's address and the box that a copy moves
// (launch/launch.h). A kernel has the map as a parameter, and passes the map's address to copies.
struct alignas(64) TensorMap {
  unsigned long long opaque[16];
};

// Copies a strided matrix into an array of blocks, each block contiguous, padded with zeros to
// whole blocks: element (r, c) of block (i, j) is source element (i * block_rows + r, j *
// block_cols + c).
struct PackParams {
  const void* source;
  void* packed;
  long long rows, cols;
  long long row_stride, col_stride;  // of the source, in elements
};

}  // namespace tessera
