// The parameter block of the kernels that multiply a matrix by a vector.
#pragma once

#include "kernels/schedule/batch.h"
#include "launch/params.h"

namespace tessera::vector {

struct Params {
  GemmParams gemm;
  schedule::Batch batch;
  unsigned blocks;   // of each vector
  unsigned vectors;  // of each product
  int are_rows;      // 1: the vectors are rows of A, the matrix is B; 0: columns of B, and A
  // Of a CTA: warps that share the rows of one warp, where rows lie along k; lanes side by side
  // along the outputs, where they do not. Powers of two.
  int warps_along_k;
  int lanes_along_outputs;
  int is_aligned;  // 1: each row of the matrix begins at a multiple of 16 bytes
};

}  // namespace tessera::vector
