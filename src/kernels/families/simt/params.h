// The parameter block of this family's kernels. Tensor maps come first, at multiples of 64.
#pragma once

#include "kernels/passes/params.h"
#include "kernels/schedule/stream_k.h"
#include "launch/params.h"

namespace tessera::simt {

struct SimtParams {
  TensorMap a_map, b_map;  // of operands that tensor copies load; else unused
  GemmParams gemm;
  schedule::StreamK schedule;
  // Tiles of block_m x block_n floats, row-major:
  float* partials;  // partial sums, one tile per slot
  float* scratch;   // sums that cannot go to D in 128-bit vectors, one tile per CTA
};

}  // namespace tessera::simt
