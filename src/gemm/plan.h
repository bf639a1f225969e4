// From a problem to the launches that solve it. Pure: the same inputs give the same plan, on any
// machine. A plan holds no addresses; gemm/prepare.h brings it onto a device, gemm/execute.h runs
// it with operands.
#pragma once

#include <vector>

#include "gemm/family.h"
#include "gemm/options.h"

namespace tessera::gemm {

struct Plan {
  Problem problem;  // alpha and beta are 0 or 1: whether they are zero is part of it
  Alignment alignment;
  DeviceLimits limits;
  // What could have been done within the workspace limit, the one that is taken first.
  std::vector<Offer> offers;
  std::vector<PlannedLaunch> launches;

  const Kernel& kernel() const { return *offers.front().kernel; }
  const KernelRow& row() const { return *offers.front().row; }
  // Device memory that the launches need beside the operands.
  std::int64_t workspace_bytes() const { return offers.front().workspace_bytes; }
};

// Checks the problem, asks the named kernel's family, or those of all kernels of the library, for
// offers, and builds the launches of the one that costs least. Leading dimensions of 0 are the
// smallest legal ones. Throws kBadArgument for an illegal problem or a workspace limit below what
// is needed, kUnsupported where no kernel takes the problem.
Plan plan(const Problem& problem, const Alignment& alignment, const DeviceLimits& limits,
          const PlanOptions& options = {});

}  // namespace tessera::gemm
