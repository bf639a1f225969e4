// What the kernels of this family are given: one block. Tensor maps come first, at multiples of 64.
#pragma once

#include "kernels/schedule/raster.h"
#include "launch/params.h"

namespace tessera::wgmma {

struct WgmmaParams {
  TensorMap a_map, b_map, d_map;  // d_map: of kernels that store by tensor copies
  GemmParams gemm;
  schedule::Raster raster;  // of clusters' tiles
  int k_tiles;
};

}  // namespace tessera::wgmma
