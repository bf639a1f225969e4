// The parameter block of the promoting kernels. Tensor maps come first, at multiples of 64
// bytes.
#pragma once

#include "kernels/passes/terms_params.h"
#include "kernels/schedule/raster.h"
#include "launch/params.h"

namespace tessera::promoted {

struct PromotedParams {
  TensorMap a_map, b_map, d_map;  // A and B as rows of terms: (m, 2 k) and (n, 2 k)
  GemmParams gemm;                // the caller's operands
  schedule::Raster raster;
  int stages;          // k in stages of kStageK, rounded up
  int copied_columns;  // the first columns of D, which tensor copies store
  // The powers of two that undo the scaling of each row and column, and flags of elements that the
  // terms do not represent. If a flag is set, FFMAs multiply the caller's operands.
  passes::TermsOf a_terms, b_terms;
};

}  // namespace tessera::promoted
