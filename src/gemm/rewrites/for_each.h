// A strided batch, product after product: the steps of one product run once for each.
#pragma once

#include "gemm/rewrites/route.h"

namespace tessera::gemm {

Status add_for_each(const Route& from, const DeviceLimits& limits, std::vector<Route>& routes);

}  // namespace tessera::gemm
