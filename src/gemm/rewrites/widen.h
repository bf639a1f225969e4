// Products of a BF16 matrix with an FP32 one, whichever of A and B it is, as FP32 products: a step
// before them converts the BF16 operand, exactly. So FP32 weights need not be kept: those in BF16
// serve FP32 activations, too.
#pragma once

#include "gemm/rewrites/route.h"

namespace tessera::gemm {

// The types of a product of BF16 with FP32 after that step; any others as they are.
Types widened(const Types& types);

// Not ok, kUnsupported, where no kernel multiplies these types at any size, widened or not.
Status check_multiplied(const Types& types);

Status add_widen(const Route& from, const DeviceLimits& limits, std::vector<Route>& routes);

}  // namespace tessera::gemm
