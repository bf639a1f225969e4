// The plan that the user's overlay has for a problem (gemm/overlay/overlay.h).
#pragma once

#include <optional>

#include "gemm/plan/plan.h"

namespace tessera::gemm {

// The candidate that the overlay of plan.limits names for plan.problem, planned again within the
// workspace limit. None if there is no entry, or if the named plan is not possible here;
// plan.tuned tells these cases apart.
std::optional<Candidate> tuned_candidate(const PlanOptions& options, Plan& plan);

// Makes `tuned` the first offer. `fits`: whether the other offers are within the workspace limit.
void put_first(Candidate tuned, bool fits, std::vector<Candidate>& offers);

// A sentence for people about the overlay's effect on a plan: "the overlay of tessera tune chose
// it: X us measured, Y us for the model's choice". Empty if there is nothing to say.
std::string tuned_text(const Plan& plan);

}  // namespace tessera::gemm
