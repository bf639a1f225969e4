// A compute type is a permission to round: kernels that multiply the same elements with more digits
// take the product, too.
#pragma once

#include "gemm/rewrites/route.h"

namespace tessera::gemm {

// WHY batches alone, of operands that are not split into terms: kernels on tensor cores take some
// of them one product after the other, or not at all. Splitting costs more than it brings where a
// product is small, batch or not.
Status add_more_digits(const Route& from, const DeviceLimits& limits, std::vector<Route>& routes);

}  // namespace tessera::gemm
