// From a problem to the launches that compute it. Pure: the same inputs give the same plan on any
// machine. A plan holds no addresses; gemm/call/prepare.h brings it onto a device and runs it with
// operands.
#pragma once

#include <vector>

#include "gemm/families/shared/family.h"
#include "gemm/options.h"

namespace tessera::gemm {

struct Plan {
  Problem problem;  // alpha and beta are 0 or 1: whether they are zero is part of it
  // Products of the batch that `problem` replaces (gemm/rewrites/fold.h); 1: it is the caller's.
  std::int64_t folded_products = 1;
  Alignment alignment;
  DeviceLimits limits;
  // All offers within the workspace limit; the first is the one taken.
  std::vector<Offer> offers;
  std::vector<PlannedLaunch> launches;

  bool is_folded() const { return folded_products > 1; }
  const Kernel& kernel() const { return *offers.front().kernel; }
  const KernelRow& row() const { return *offers.front().row; }
  // How often the launches are run: once, or for each product of a batch.
  std::int64_t rounds() const { return offers.front().is_for_each ? problem.batch.count : 1; }
  // Device memory that the launches need in addition to the operands.
  std::int64_t workspace_bytes() const { return offers.front().workspace_bytes; }
};

// The problem that a plan is made for: leading dimensions filled in, alpha and beta 0 or 1.
Problem planned_problem(Problem problem);

// Checks the problem, collects offers (of the named kernel, else of all kernels of the library),
// and builds the launches of the cheapest one. A leading dimension of 0 means the smallest legal
// one. Throws kBadArgument for an illegal problem or a workspace limit below what is needed,
// kUnsupported where no kernel takes the problem.
Plan plan(const Problem& problem, const Alignment& alignment, const DeviceLimits& limits,
          const PlanOptions& options = {});

}  // namespace tessera::gemm
