// The parameter block of the mma kernels.
#pragma once

#include "kernels/passes/params.h"
#include "kernels/schedule/batch.h"
#include "kernels/schedule/stream_k.h"
#include "launch/params.h"

namespace tessera::mma {

struct MmaParams {
  GemmParams gemm;
  schedule::StreamK schedule;  // over the tiles of all products, one product below the other
  schedule::Batch batch;
  float* partials;  // partial sums, one tile of block_m x block_n per slot, row-major
};

}  // namespace tessera::mma
