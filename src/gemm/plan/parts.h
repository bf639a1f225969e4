// Plans a product as parts that run one after the other: if the temps of the whole exceed the
// workspace limit, those of a part may fit.
#pragma once

#include <string_view>
#include <vector>

#include "gemm/plan/plan.h"

namespace tessera::gemm {

// Plans the parts one by one, and sets the steps of `plan` and one candidate for the whole. Not ok
// if a part does not fit the workspace limit. `text` names the parts: "groups of rows".
Status plan_parts(const std::vector<Subproblem>& parts, std::string_view text,
                  const PlanOptions& options, Plan& plan);

// Plans the product, which must not be a batch, in parts: the fewest for which a part's cheapest
// kernel fits the workspace limit. If they cost less than `least_cost` (microseconds, the best plan
// without parts), sets `plan` and returns true; else returns false and leaves `plan` unchanged.
bool plan_in_parts(double least_cost, const PlanOptions& options, Plan& plan);

}  // namespace tessera::gemm
