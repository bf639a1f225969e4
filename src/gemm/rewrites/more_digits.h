// Routes with a compute type of more digits. A compute type permits rounding, so kernels that round
// less may multiply the product, too.
#pragma once

#include "gemm/rewrites/route.h"

namespace tessera::gemm {

// For batches, and for operands that are split into terms. WHY: kernels on tensor cores take some
// batches one product after the other, or not at all, and splitting a small product into terms
// costs more than it saves.
Status add_more_digits(const Route& from, const DeviceLimits& limits, std::vector<Route>& routes);

}  // namespace tessera::gemm
