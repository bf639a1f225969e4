// The parameter block of the probes of FP64 feeds.
#pragma once

#include "kernels/schedule/raster.h"
#include "launch/params.h"

namespace tessera::fp64_feed {

// D (m x n, row-major) = A * B, with k contiguous in A (m x k) and in B (n x k). Whole tiles only.
struct Params {
  TensorMap a_map, b_map;  // (m, k) and (n, k)
  GemmParams gemm;
  schedule::Raster raster;  // over the tiles of clusters
  int products;             // 1
  int k_tiles;
};

}  // namespace tessera::fp64_feed
