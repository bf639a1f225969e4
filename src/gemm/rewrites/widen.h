// Computes a product of a BF16 and an FP32 operand, in either order, as an FP32 product: a step
// before it converts the BF16 operand, exactly. So BF16 weights can be multiplied with FP32
// activations without an FP32 copy of the weights.
#pragma once

#include "gemm/rewrites/route.h"

namespace tessera::gemm {

// The types of a product of BF16 with FP32 after that step. Other types are returned unchanged.
Types widened(const Types& types);

// kUnsupported if no kernel multiplies these types at any size, widened or not.
Status check_multiplied(const Types& types);

Status add_widen(const Route& from, const DeviceLimits& limits, std::vector<Route>& routes);

}  // namespace tessera::gemm
