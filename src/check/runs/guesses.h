// Plain reads that a compare-and-swap tests afterwards: atomicMax() of floats and the like, as the
// CUDA C++ Programming Guide writes them.
#pragma once

#include "check/runs/run.h"

namespace tessera::checking {

// A race between such a read and atomics becomes a note: an old value costs one round more of the
// loop. With --strict-ptx it stays a race, as PTX has it.
void note_guesses(const CheckPlan& plan, CheckResult& result);

}  // namespace tessera::checking
