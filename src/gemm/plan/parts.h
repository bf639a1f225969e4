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

// Plans a product that is not a batch in parts: the fewest for which the cheapest kernel of a part
// fits into the workspace. Takes that plan if it costs less than `least_cost`, the cost of the best
// plan that fits as a whole. Else returns false and leaves the plan as it was.
bool plan_in_parts(double least_cost, const PlanOptions& options, Plan& plan);

}  // namespace tessera::gemm
