// The shapes at which the library lost most before any suite was drawn, as cells of a suite, so
// that the table of these losses can be measured again.
#pragma once

#include <vector>

#include "lab/suite/draw.h"

namespace tessera::lab {

// Returns column-major cells. `from` is a row of the table in docs/reports/drawn-suite.md.
std::vector<DrawnCell> loss_suite();

}  // namespace tessera::lab
