// What the kernels of this family are given: one block each. Tensor maps come first, at multiples
// of 64.
#pragma once

#include "kernels/passes/terms_params.h"
#include "kernels/schedule/raster.h"
#include "launch/params.h"

namespace tessera::promoted {

struct PromotedParams {
  TensorMap a_map, b_map, d_map;  // of A and B: rows of terms, (m, 2 k) and (n, 2 k)
  GemmParams gemm;                // the operands as the caller has them
  schedule::Raster raster;
  int stages;          // of kStageK each, whole turns
  int copied_columns;  // of D from the left, that tensor copies store
  // What the sums of a row and of a column are to be multiplied by, and where terms do not hold the
  // operands: FFMAs multiply then.
  passes::TermsOf a_terms, b_terms;
};

}  // namespace tessera::promoted
