// A batch that is one product. Where all products share B, and the rows of A, C and D continue from
// one product to the next, the batch is one product of more rows: 64 products of one row, as in a
// decode step, are one product of 64 rows. Likewise with A shared and the columns continuing.
#pragma once

#include <optional>

#include "problem/problem.h"

namespace tessera::gemm {

// The one product without a batch that a legal problem, with its leading dimensions, is equal to;
// empty if there is none. Its addresses are those of the first product.
std::optional<Problem> folded(const Problem& problem);

}  // namespace tessera::gemm
