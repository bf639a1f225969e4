// Finds how many registers code may use. A kernel may give registers back, or request more, while
// it runs (setmaxnreg). An instruction that names a register which its warp does not have is
// illegal, and a value in such a register is lost. This must also hold after registers are renamed.
#pragma once

#include <string>
#include <vector>

#include "sass/model/flow.h"

namespace tessera::sass {

// Returns for each instruction the limit of the general registers that it may name. All code that
// runs with the same number of registers, as set by the last USETMAXREG on any path to it, has one
// limit: the highest register that the kernel names in it. The limit is 255 in unreachable code.
std::vector<int> register_limits(const Program& program);

// Returns a sentence if `after`, the same code with other registers, exceeds the limits of
// `before`, else "".
std::string beyond_limits(const Program& before, const Program& after);

}  // namespace tessera::sass
