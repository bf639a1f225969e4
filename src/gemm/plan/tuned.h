// The plan that the user's overlay has for a problem (gemm/overlay/overlay.h).
#pragma once

#include <optional>

#include "gemm/plan/plan.h"

namespace tessera::gemm {

// The candidate that the overlay of plan.limits names for plan.problem, planned again within the
// workspace limit. None if there is no entry, or if the named plan is not possible here; plan.tuned
// says which.
std::optional<Candidate> tuned_candidate(const PlanOptions& options, Plan& plan);

// Puts it before all others. `fits`: whether these are within the workspace limit.
void put_first(Candidate tuned, bool fits, std::vector<Candidate>& offers);

// A sentence for people about what the overlay did to a plan: "the overlay of tessera tune chose
// it: X us measured, Y us for the model's choice". Empty where there is nothing to say.
std::string tuned_text(const Plan& plan);

}  // namespace tessera::gemm
