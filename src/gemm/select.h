// Which kernel of the catalog to use where nobody names one. A model, not a measurement:
// catalog/cost_model.h says what a call is expected to cost, part by part.
#pragma once

#include <vector>

#include "catalog/cost_model.h"
#include "problem/problem.h"

namespace tessera::gemm {

// A kernel that could take the problem, with the row that it would use.
struct Candidate {
  KernelChoice choice;
  const KernelRow* row;
  catalog::Prediction prediction;
};

// Every kernel whose rate is known and that takes the problem, the one expected to be fastest
// first.
std::vector<Candidate> candidates(const Problem& problem, const PlanContext& context);

// The first of them. Throws kUnsupported when no kernel takes the problem.
KernelChoice best_kernel(const Problem& problem, const PlanContext& context);

}  // namespace tessera::gemm
