// The parameter block of the kernels that multiply a matrix by one vector or a few vectors.
#pragma once

#include "kernels/schedule/batch.h"
#include "launch/params.h"

namespace tessera::vector {

struct Params {
  GemmParams gemm;
  schedule::Batch batch;
  unsigned blocks;  // per pass over the matrix
  unsigned passes;  // per product, each with a few of its vectors
  int are_rows;     // 1: the vectors are rows of A, the matrix is B; 0: columns of B, and A
  // For rows along k: the number of warps that share the same rows. For rows along outputs: the
  // number of neighbouring lanes with different outputs. Powers of two.
  int warps_along_k;
  int lanes_along_outputs;
  int width;  // elements of the matrix per access: 16 bytes, 8 bytes, 4 bytes or one element
};

}  // namespace tessera::vector
