// A strided batch, one product after the other: the steps of a single product run once for each.
#pragma once

#include "gemm/rewrites/route.h"

namespace tessera::gemm {

Status add_for_each(const Route& from, const DeviceLimits& limits, std::vector<Route>& routes);

}  // namespace tessera::gemm
