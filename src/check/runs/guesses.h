// Recognizes plain reads whose value a compare-and-swap tests afterwards, as in an atomicMax() of
// floats that is written as the CUDA C++ Programming Guide shows.
#pragma once

#include "check/runs/run.h"

namespace tessera::checking {

// Turns a race between atomics and a read that a compare-and-swap tests into a note: an old value
// only costs one more iteration. With --strict-ptx the race stays a race, as PTX defines it.
void note_guesses(const CheckPlan& plan, CheckResult& result);

}  // namespace tessera::checking
