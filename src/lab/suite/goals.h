// The shapes that docs/performance.md states goals for, by type and layout, as cells of a suite.
#pragma once

#include <vector>

#include "lab/suite/draw.h"

namespace tessera::lab {

// Rows without gaps, column-major. Squares of 512 ... 8192 of each type are among them, whether or
// not a goal names them, and calls of more than about 30 ms are not.
std::vector<DrawnCell> goal_suite();

}  // namespace tessera::lab
