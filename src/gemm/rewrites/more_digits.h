// A compute type is a permission to round: kernels that multiply the same elements with more digits
// take the product, too.
#pragma once

#include "gemm/rewrites/route.h"

namespace tessera::gemm {

// WHY batches alone: kernels on tensor cores take some of them one product after the other, or not
// at all.
Status add_more_digits(const Route& from, const DeviceLimits& limits, std::vector<Route>& routes);

}  // namespace tessera::gemm
