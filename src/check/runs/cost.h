// Explains the cost of a user's kernel like that of the library's own kernels, from one run with
// counts of every access.
#pragma once

#include "check/runs/run.h"
#include "lab/explain/explain.h"

namespace tessera::checking {

// Throws LaunchFault if the kernel does not run to its end, and kBadArgument as run_check() does.
lab::Explanation cost_of(const CheckPlan& plan, const arch::Gpu& gpu);

}  // namespace tessera::checking
