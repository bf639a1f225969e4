// The parameter block of the kernels that multiply a BF16 matrix with a few rows of FP32.
#pragma once

#include "kernels/schedule/batch.h"
#include "launch/params.h"

namespace tessera::mixed {

// The way in which the BF16 matrix is read.
enum Loads : int {
  kAlongK,      // eight neighbours along k at a time
  kAlongLines,  // four neighbours across k at a time
  kElements     // any strides and alignment
};

struct Params {
  GemmParams gemm;
  schedule::Batch batch;
  // The BF16 matrix, (line, k), and the FP32 matrix, (row, k). Either may be A.
  long long lines, rows;
  long long narrow_line, narrow_k, wide_row, wide_k;
  unsigned tiles_of_lines;  // of the BF16 matrix,
  unsigned tiles;           // and of each product
  int warps_of_lines;       // of a CTA: warps with lines of their own; other warps share k
  int loads;
  int fp32_is_along_k;  // 1: in rows that begin at multiples of 16 bytes
  int bf16_is_a;
};

}  // namespace tessera::mixed
