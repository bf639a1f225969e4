// The parameter blocks of the wgmma kernels. Tensor maps come first, at multiples of 64
// bytes.
#pragma once

#include "kernels/epilogue/finish_params.h"
#include "kernels/epilogue/x_params.h"
#include "kernels/schedule/raster.h"
#include "launch/params.h"

namespace tessera::wgmma {

struct WgmmaParams {
  TensorMap a_map, b_map, d_map;  // d_map: only for kernels that store by tensor copies
  GemmParams gemm;
  schedule::Raster raster;  // one tile per cluster
  int k_tiles;              // per tile; if k is split, per tile and part of k
  // The number of D's first columns that tensor copies store; 0 if they cannot store this D.
  int copied_columns;
  // If k is split, D is a column of matrices of partial sums, one for each part of k; this is the
  // number of rows of each matrix. If k is not split, the number is larger than any row.
  int rows_per_k_part;
  // 1: the rows of the kernel's A are columns of D. `gemm` describes D itself, not its transpose.
  int transposed;
  int products;  // in the batch; if more than one, the maps have a third dimension
  // The factor of a product's number in A's (or B's) map: 0 if all share one A (or B), else 1.
  int product_a, product_b;
  long long product_c, product_d;  // bytes from one product's matrix to the next one's
  // The maps of each A, then of each B, then of each D if copied_columns is not 0, of matrices at
  // listed addresses (passes/listed_maps.cu): c and d of `gemm` are then the lists. Else null.
  const TensorMap* listed_maps;
};

// The parameter block of kernels that apply the epilogue themselves.
struct FusedParams {
  WgmmaParams product;
  epilogue::Fused epilogue;
};

// The parameter block of kernels that also write an auxiliary output.
struct FusedXParams {
  FusedParams fused;
  epilogue::X x;
};

}  // namespace tessera::wgmma
