// Finds arrays whose contents depend on the order in which the warps run.
#pragma once

#include "check/runs/run.h"

namespace tessera::checking {

// Notes the results that differ from those of the first run that finished.
void note_disagreements(const std::vector<HostArray>& results, const RunOrder& order,
                        CheckResult& result);

// Turns disagreements into findings. None are: a sum in another order, which is rounded
// differently; atomics that assign places in another order; a clock that shows another time. Any
// other element that differs is a finding, if nothing else is found.
void judge_disagreements(const CheckPlan& plan, CheckResult& result);

// Returns ", the same elements in other places" if that is so, else "".
std::string kind_of(const Disagreement& disagreement, const CheckResult& result);

}  // namespace tessera::checking
