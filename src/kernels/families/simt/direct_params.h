// The parameter block of the kernels that take operands as they are. Tensor maps come first, at
// multiples of 64.
#pragma once

#include "kernels/passes/params.h"
#include "kernels/schedule/batch.h"
#include "kernels/schedule/stream_k.h"
#include "launch/params.h"

namespace tessera::simt_direct {

struct DirectParams {
  TensorMap a_map, b_map;  // of all products, where tensor copies load; else unused
  GemmParams gemm;
  schedule::StreamK schedule;  // of all products, one below the other
  schedule::Batch batch;
  // Tiles of block_m x block_n floats, row-major:
  float* partials;  // partial sums, one tile per slot
  float* scratch;   // sums that cannot go to D in 128-bit vectors, one tile per CTA
};

}  // namespace tessera::simt_direct
