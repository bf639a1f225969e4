// Arrays whose contents depend on the order in which the warps run.
#pragma once

#include "check/runs/run.h"

namespace tessera::checking {

// Notes the results that differ from those of the first run that finished.
void note_disagreements(const std::vector<HostArray>& results, const RunOrder& order,
                        CheckResult& result);

// A sum in another order is rounded differently, atomics assign places in another order, and a
// clock shows another time: these are not findings. Any other element that differs is one, if
// nothing else is found.
void judge_disagreements(const CheckPlan& plan, CheckResult& result);

// ", the same elements in other places"; empty if the elements differ.
std::string kind_of(const Disagreement& disagreement, const CheckResult& result);

}  // namespace tessera::checking
