// Finds out whether undefined values affect a result: values of lanes that a shuffle leaves out,
// and of unwritten local memory and registers. Reading and discarding such a value is no error, so
// the kernel runs again with different undefined values, and the results are compared.
#pragma once

#include "check/runs/run.h"

namespace tessera::checking {

// Adds a finding for each kind of undefined value that changes a result. A kind that changes no
// result is not a finding; for shuffles it becomes a note. A finding about a read of unwritten
// shared memory becomes a note if no result depends on the read.
void judge_undefined(const CheckPlan& plan, CheckResult& result);

}  // namespace tessera::checking
