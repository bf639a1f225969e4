// What a plan is executed with: addresses, alpha and beta.
#pragma once

#include <cstddef>
#include <span>

#include "gemm/plan.h"

namespace tessera::gemm {

struct Arguments {
  Operands operands;  // C may be null when beta is 0, A and B when they are not read
  double alpha = 1, beta = 0;
  DeviceAddress workspace = 0;
  std::int64_t workspace_bytes = 0;
};

// Not ok, with argument, value and rule, where a plan does not hold for these: alpha or beta zero
// or not unlike the plan's, an address below the planned alignment, a workspace too small, or a D
// that shares an element with what is read.
Status check(const Plan& plan, const Arguments& arguments);

// 0 in an operand that is not read.
DeviceAddress address_of(const Place& place, const Arguments& arguments);

// Writes addresses and scales into a copy of the launch's parameters. Tensor maps are the device's.
void patch(const PlannedLaunch& launch, const Arguments& arguments, std::span<std::byte> params);

}  // namespace tessera::gemm
