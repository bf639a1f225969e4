// A product in parts, one after the other: of rows and columns of D, or of k. Where the sums of an
// epilogue, repacked operands or terms take more workspace than there is, those of a part fit.
#pragma once

#include <vector>

#include "gemm/steps/subproblem.h"

namespace tessera::gemm {

// The product of rows first ... first + rows - 1 of D, without its batch's strides: each operand
// that has a row for each of D's begins at the first of these. Its alignments are those of the
// whole.
Subproblem rows_of(const Subproblem& product, std::int64_t first, std::int64_t rows);

// The size of the parts of D; the last part of each side may be smaller.
struct Extents {
  std::int64_t rows, columns;
};

// The parts of a row-major product that is not a batch, row by row. Extents: multiples of 16, so
// that each part is as aligned as the whole, or all of D.
std::vector<Subproblem> parts_of(const Subproblem& product, const Extents& extents);

// Whether D can hold the sums of a part of k for the next one to add to: it has their type, and so
// has a C that is read.
bool can_add_along_k(const Problem& problem);
// The parts of such a product along k, `extent` of it each; the last one may have less. All but the
// first add to D: beta is 1, whatever the caller's is. The last one applies the epilogue.
std::vector<Subproblem> parts_along_k(const Subproblem& product, std::int64_t extent);

}  // namespace tessera::gemm
