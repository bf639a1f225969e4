// Computes a product of a BF16 and an FP32 operand, in either order, as an FP32 product: an earlier
// step converts the BF16 operand exactly. So BF16 weights can be multiplied with FP32 activations
// without an FP32 copy of the weights.
#pragma once

#include "gemm/rewrites/route.h"

namespace tessera::gemm {

// The types of a BF16 and FP32 product after the conversion. Other types are returned unchanged.
Types widened(const Types& types);

// Not ok (kUnsupported) if no kernel multiplies these types, even after the conversion.
Status check_multiplied(const Types& types);

Status add_widen(const Route& from, const DeviceLimits& limits, std::vector<Route>& routes);

}  // namespace tessera::gemm
