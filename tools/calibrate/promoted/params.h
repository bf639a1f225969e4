// What the probes of the promoting loop are handed.
#pragma once

#include "kernels/schedule/raster.h"
#include "launch/params.h"

namespace tessera::promoted {

// D (m x n, row-major, FP32) = hi hi' + hi lo' + lo hi' of operands in two FP16 planes. A row
// holds, for each 32 of k, 32 elements of the high plane and then 32 of the low one: 128 bytes.
struct Params {
  TensorMap a_map, b_map;  // (m, 2 k) and (n, 2 k), k contiguous
  float* d;
  long long ldd;
  schedule::Raster raster;
  int stages;  // of 32 k each; even
};

}  // namespace tessera::promoted
