// What the kernels of this family are given: one block each. Tensor maps come first, at multiples
// of 64.
#pragma once

#include "kernels/epilogue/finish_params.h"
#include "kernels/schedule/raster.h"
#include "launch/params.h"

namespace tessera::wgmma {

struct WgmmaParams {
  TensorMap a_map, b_map, d_map;  // d_map: of kernels that store by tensor copies
  GemmParams gemm;
  schedule::Raster raster;  // of clusters' tiles
  int k_tiles;              // of a tile: of its part of k, where k is split
  // Columns of D from the left that tensor copies store; 0 where they take nothing of it.
  int copied_columns;
  // Rows of tiles from this one on belong to the next part of k: D is then a column of such
  // matrices, of partial sums. More than any row where k is not split.
  int rows_per_k_part;
  // 1: the rows of the kernel's A are columns of D. `gemm` says how D, its rows and columns, lies.
  int transposed;
  int products;  // of a batch; more than one: the maps have a third dimension
  // What a product's number is multiplied by to find its operand: 0 where all share one, else 1.
  int product_a, product_b;
  long long product_c, product_d;  // bytes from one product's matrix to the next one's
};

// Of kernels that apply the epilogue themselves.
struct FusedParams {
  WgmmaParams product;
  epilogue::Fused epilogue;
};

}  // namespace tessera::wgmma
