// The parameter block of the portable kernels.
#pragma once

#include "kernels/schedule/batch.h"
#include "launch/params.h"

namespace tessera::portable {

struct Params {
  GemmParams gemm;
  schedule::Batch batch;
  unsigned tiles;       // of each product
  unsigned unused = 0;  // no padding
};

}  // namespace tessera::portable
