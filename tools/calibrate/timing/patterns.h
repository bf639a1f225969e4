// Address patterns of a warp: those that tell bank models apart, those of the ladder's kernels, and
// seeded random ones that hold whatever model comes out to account.
#pragma once

#include <vector>

#include "tools/calibrate/timing/bench.h"

namespace tessera::calibration {

// For accesses of `bytes` (4, 8 or 16) a lane; all below 4096.
std::vector<Pattern> shared_patterns(unsigned bytes);
std::vector<Pattern> global_patterns(unsigned bytes);

// Distinct lines of 128 bytes and sectors of 32 that a request touches.
int lines_of(const Pattern& pattern);
int sectors_of(const Pattern& pattern);

}  // namespace tessera::calibration
