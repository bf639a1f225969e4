// A bias without a launch of its own: a bias for the columns of a row-major D is passed as C, with
// beta 1 and a row stride of 0. Every kernel that stores D adds C, and so does the launch that adds
// the parts of k, so kernels need no code for this bias.
#pragma once

#include "gemm/rewrites/route.h"

namespace tessera::gemm {

// Whether the epilogue is only a bias for the columns of a row-major D (rows of a column-major D),
// C is not read, and D has the type of the sums. Expects a legal problem.
bool is_bias_as_c(const Problem& problem);

Status add_bias_as_c(const Route& from, const DeviceLimits& limits, std::vector<Route>& routes);

}  // namespace tessera::gemm
