// The parameter block of the kernels that multiply a matrix by a vector, or by a few at once.
#pragma once

#include "kernels/schedule/batch.h"
#include "launch/params.h"

namespace tessera::vector {

struct Params {
  GemmParams gemm;
  schedule::Batch batch;
  unsigned blocks;  // of each pass over the matrix
  unsigned passes;  // of each product, with a few of its vectors each
  int are_rows;     // 1: the vectors are rows of A, the matrix is B; 0: columns of B, and A
  // Of a CTA: warps that share the rows of one warp, where rows lie along k; lanes side by side
  // along the outputs, where they do not. Powers of two.
  int warps_along_k;
  int lanes_along_outputs;
  int width;  // neighbours in the matrix that are one access: 16 bytes, 8, 4 or one element
};

}  // namespace tessera::vector
