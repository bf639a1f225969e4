// Recognizes plain reads that a compare-and-swap tests afterwards: atomicMax() of floats and the
// like, as the CUDA C++ Programming Guide writes them.
#pragma once

#include "check/runs/run.h"

namespace tessera::checking {

// Turns a race between such a read and atomics into a note: an old value only costs one more
// iteration of the loop. With --strict-ptx it stays a race, as PTX defines it.
void note_guesses(const CheckPlan& plan, CheckResult& result);

}  // namespace tessera::checking
