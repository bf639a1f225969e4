// A product in parts of rows of D, one after the other. Where the sums of an epilogue take more
// workspace than there is, those of fewer rows fit.
#pragma once

#include <vector>

#include "gemm/steps/subproblem.h"

namespace tessera::gemm {

// The product of rows first ... first + rows - 1 of D, without its batch's strides: each operand
// that has a row for each of D's begins at the first of these. Its alignments are those of the
// whole.
Subproblem rows_of(const Subproblem& product, std::int64_t first, std::int64_t rows);

// Parts of so many rows of a product that is no batch, and one of the rest. `rows`: a multiple of
// 16, so that each part is as aligned as the whole. A column-major product is exchanged first.
std::vector<Subproblem> parts_by_rows(const Subproblem& product, std::int64_t rows);

}  // namespace tessera::gemm
