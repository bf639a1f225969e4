// A product in parts of rows and columns of D, one after the other. Where the sums of an epilogue,
// or repacked operands, take more workspace than there is, those of a part fit.
#pragma once

#include <vector>

#include "gemm/steps/subproblem.h"

namespace tessera::gemm {

// The product of rows first ... first + rows - 1 of D, without its batch's strides: each operand
// that has a row for each of D's begins at the first of these. Its alignments are those of the
// whole.
Subproblem rows_of(const Subproblem& product, std::int64_t first, std::int64_t rows);

// Of parts of D; the last part of each side may be smaller.
struct Extents {
  std::int64_t rows, columns;
};

// The parts of a row-major product that is no batch, row by row. Extents: multiples of 16, so that
// each part is as aligned as the whole, or all of D.
std::vector<Subproblem> parts_of(const Subproblem& product, const Extents& extents);

}  // namespace tessera::gemm
