// Splits a batch of groups of rows into separate products. In a mixture of experts, each group of
// rows is multiplied by a different B.
#pragma once

#include <vector>

#include "gemm/steps/subproblem.h"

namespace tessera::gemm {

// One product for each group that is not empty, in order.
std::vector<Subproblem> products_of_groups(const Subproblem& whole);

}  // namespace tessera::gemm
