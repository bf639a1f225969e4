// Finds arrays whose contents depend on the order in which the warps run.
#pragma once

#include "check/runs/run.h"

namespace tessera::checking {

// Notes the results that differ from those of the first run that finished.
void note_disagreements(const std::vector<HostArray>& results, const RunOrder& order,
                        CheckResult& result);

// Turns disagreements into findings. Three kinds are no findings: sums in another order, with other
// rounding; places that atomics assign in another order; times that a clock shows. Any other
// element that differs is a finding, if the checks have found nothing else.
void judge_disagreements(const CheckPlan& plan, CheckResult& result);

// Returns the cause as text, such as ", the same elements in other places"; "" if it is unknown.
std::string kind_of(const Disagreement& disagreement, const CheckResult& result);

}  // namespace tessera::checking
