// A batch that is one product. If all products share B, and the rows of A, C and D continue from
// one product to the next, the batch is one product of more rows: 64 products of one row, as in a
// decode step, are one product of 64 rows. The same holds for columns if all products share A.
#pragma once

#include <optional>

#include "problem/problem.h"

namespace tessera::gemm {

// The product without a batch that equals this batch; empty if there is none. Operands are at the
// addresses of the first product. Expects a legal problem with leading dimensions.
std::optional<Problem> folded(const Problem& problem);

}  // namespace tessera::gemm
