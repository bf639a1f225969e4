// One kernel's PTX next to its machine code: where ptxas merged, moved or added instructions.
#pragma once

#include <string>
#include <string_view>

#include "sass/report/report.h"

namespace tessera::sass {

// Returns the main loops side by side: one row per instruction, or per pair of equal operations
// that come in the same order on both sides; then a table of the operations that both sides count.
// Throws std::invalid_argument if the PTX has no entry of this name or no loop that multiplies.
std::string ptx_beside(const KernelReport& kernel, std::string_view ptx);

}  // namespace tessera::sass
