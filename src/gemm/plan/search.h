// The offers of the families for a product, and the steps of an offer.
#pragma once

#include <vector>

#include "gemm/plan/plan.h"

namespace tessera::gemm {

// Whether D has no elements.
inline bool is_empty(const Problem& p) { return p.m == 0 || p.n == 0 || p.batch.count == 0; }

// Candidates of the named kernel, or of all kernels of the library, for all routes of the product;
// they may exceed the workspace limit. Throws the reason if there are none.
std::vector<Candidate> candidates_of(const Subproblem& product, const DeviceLimits& limits,
                                     const PlanOptions& options);

// Keeps the candidates within `limit` bytes of workspace, the cheapest first. If no candidate is,
// keeps all and returns a status that names the least necessary limit.
Status rank(std::vector<Candidate>& candidates, std::int64_t limit, const DeviceLimits& limits);

// The steps of one round of a candidate.
std::vector<Step> steps_of(const Candidate& best, const DeviceLimits& limits,
                           const PlanOptions& options);

}  // namespace tessera::gemm
