// A bias without a launch of its own: the bias of the columns of a row-major D is passed as a C
// whose rows are all the same memory, with a beta of 1. Every kernel adds a C when it stores, and
// so does the launch that adds the parts of k; so no kernel needs code for the bias.
#pragma once

#include "gemm/rewrites/route.h"

namespace tessera::gemm {

// Whether the epilogue is such a bias and no more, C is not read, and D has the type of the sums.
// Expects a legal problem.
bool is_bias_as_c(const Problem& problem);

Status add_bias_as_c(const Route& from, const DeviceLimits& limits, std::vector<Route>& routes);

}  // namespace tessera::gemm
