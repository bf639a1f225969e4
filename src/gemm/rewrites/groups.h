// A batch of groups of rows as separate products: a mixture of experts, where each group of rows is
// multiplied by another B.
#pragma once

#include <vector>

#include "gemm/steps/subproblem.h"

namespace tessera::gemm {

// One product for each group that has rows, in order.
std::vector<Subproblem> products_of_groups(const Subproblem& whole);

}  // namespace tessera::gemm
