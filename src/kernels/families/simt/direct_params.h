// The parameter block of the kernels that need no repacked operands. Tensor maps come first, at
// multiples of 64 bytes.
#pragma once

#include "kernels/passes/params.h"
#include "kernels/schedule/batch.h"
#include "kernels/schedule/stream_k.h"
#include "launch/params.h"

namespace tessera::simt_direct {

struct DirectParams {
  TensorMap a_map, b_map;  // over all products; unused without tensor copies
  GemmParams gemm;
  schedule::StreamK schedule;  // over the tiles of all products, one product below the other
  schedule::Batch batch;
  // Tiles of block_m x block_n floats, row-major:
  float* partials;  // partial sums, one tile per slot
  float* scratch;   // sums that cannot go to D in 128-bit vectors, one tile per CTA
};

}  // namespace tessera::simt_direct
