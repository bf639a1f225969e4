// The parameter block of simt_f32. Tensor maps come first, at multiples of 64 bytes.
#pragma once

#include "kernels/passes/params.h"
#include "kernels/schedule/stream_k.h"
#include "launch/params.h"

namespace tessera::simt {

struct SimtParams {
  TensorMap a_map, b_map;  // used for operands that tensor copies load
  GemmParams gemm;
  schedule::StreamK schedule;
  // Tiles of block_m x block_n floats, row-major:
  float* partials;  // partial sums, one tile per slot
  float* scratch;   // sums that cannot go to D in 128-bit vectors, one tile per CTA
};

}  // namespace tessera::simt
