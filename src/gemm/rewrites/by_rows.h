// A product in parts of rows of D, one after the other. Where the sums of an epilogue take more
// workspace than there is, those of fewer rows fit.
#pragma once

#include <vector>

#include "gemm/steps/subproblem.h"

namespace tessera::gemm {

// Parts of so many rows of a product that is no batch, and one of the rest. `rows`: a multiple of
// 16, so that each part is as aligned as the whole. A column-major product is exchanged first.
std::vector<Subproblem> parts_by_rows(const Subproblem& product, std::int64_t rows);

}  // namespace tessera::gemm
