// The parameter block of this family's kernels.
#pragma once

#include "kernels/schedule/batch.h"
#include "launch/params.h"

namespace tessera::small {

struct Params {
  GemmParams gemm;
  schedule::Batch batch;
  unsigned tiles, tiles_n;  // of each product, and of a row of them
  unsigned all_tiles;       // of the batch
  unsigned unused = 0;      // no padding
};

}  // namespace tessera::small
