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

// Plans a product that is not a batch in the fewest parts for which the cheapest kernel of a part
// fits the workspace limit. Takes that plan if it costs less than `least_cost` (microseconds), the
// cost of the best plan of the whole. Else returns false and leaves `plan` as it was.
bool plan_in_parts(double least_cost, const PlanOptions& options, Plan& plan);

}  // namespace tessera::gemm
