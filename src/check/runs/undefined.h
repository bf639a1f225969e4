// Whether what has no defined value decides about a result: lanes that a shuffle leaves out, local
// memory and registers that are not written. Reading them is no error, and code that throws the
// value away is right; so the kernel is run again with other bits there, and the results compared.
#pragma once

#include "check/runs/run.h"

namespace tessera::checking {

// Adds a finding for each kind of undefined value that changes a result. A kind that changes none
// is no finding; of shuffles a note tells. What was found to read shared memory that nobody wrote
// becomes a note where no result depends on it.
void judge_undefined(const CheckPlan& plan, CheckResult& result);

}  // namespace tessera::checking
