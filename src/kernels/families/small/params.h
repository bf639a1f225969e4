// The parameter block of the kernels for small products.
#pragma once

#include "kernels/schedule/batch.h"
#include "launch/params.h"

namespace tessera::small {

struct Params {
  GemmParams gemm;
  schedule::Batch batch;
  unsigned tiles, tiles_n;  // per product, and per row of tiles
  unsigned all_tiles;       // in the batch
  unsigned unused = 0;      // so that the struct has no padding
};

}  // namespace tessera::small
