// The parameter block of the portable kernels.
#pragma once

#include "kernels/schedule/batch.h"
#include "launch/params.h"

namespace tessera::portable {

struct Params {
  GemmParams gemm;
  schedule::Batch batch;
  unsigned tiles;       // per product
  unsigned unused = 0;  // so that the struct has no padding
};

}  // namespace tessera::portable
