// The shapes for which docs/performance.md states goals, by type and layout, as cells of a suite.
#pragma once

#include <vector>

#include "lab/suite/draw.h"

namespace tessera::lab {

// Returns column-major cells whose columns have no gaps. They include squares of 512 ... 8192 of
// each type, whether or not a goal names them, but no calls of more than about 30 ms.
std::vector<DrawnCell> goal_suite();

}  // namespace tessera::lab
