// Cuts a product into parts that run one after the other: by rows and columns of D, or along k. A
// part needs less workspace for the sums of an epilogue, repacked operands and terms.
#pragma once

#include <vector>

#include "gemm/steps/subproblem.h"

namespace tessera::gemm {

// The product of rows first ... first + rows - 1 of D: operands with a row for each row of D
// begin at row `first`. Alignments and the batch are copied from the whole product, and the
// caller must correct them.
Subproblem rows_of(const Subproblem& product, std::int64_t first, std::int64_t rows);

// The size of the parts of D; the last part along m or n may be smaller.
struct Extents {
  std::int64_t rows, columns;
};

// The parts of a row-major product that is not a batch, row by row. Each extent is all of D or a
// multiple of 16, so that each part is as aligned as the whole.
std::vector<Subproblem> parts_of(const Subproblem& product, const Extents& extents);

// Whether D can hold the sums of one part of k while the next part is added: D has the type of the
// sums, and so has C if it is read.
bool can_add_along_k(const Problem& problem);
// The parts along k of a product that can_add_along_k() takes, each with `extent` of k, the last
// with the rest. All but the first add to D (beta is 1). Only the last applies the epilogue.
std::vector<Subproblem> parts_along_k(const Subproblem& product, std::int64_t extent);

}  // namespace tessera::gemm
