// Products in parts, one after the other: where the temps of the whole exceed the workspace, those
// of a part fit.
#pragma once

#include <string_view>
#include <vector>

#include "gemm/plan/plan.h"

namespace tessera::gemm {

// Plans products one by one: their steps, and one candidate for the whole. Not ok where one of them
// does not fit the workspace. `text`: what they are, "groups of rows".
Status plan_parts(const std::vector<Subproblem>& parts, std::string_view text,
                  const PlanOptions& options, Plan& plan);

// Plans a product that is not a batch in the fewest parts within whose workspace the kernel that is
// the cheapest for a part runs, and takes that plan if it costs less than `least_cost`, which is
// what fits as a whole. False, and the plan is as before, where there is none.
bool plan_in_parts(double least_cost, const PlanOptions& options, Plan& plan);

}  // namespace tessera::gemm
