// A kernel may give registers back, or request more, while it runs (setmaxnreg). An instruction
// that names a register which its warp does not have is illegal, and a value in such a register is
// lost. This must also hold after registers are renamed.
#pragma once

#include <string>
#include <vector>

#include "sass/model/flow.h"

namespace tessera::sass {

// Per instruction: the limit of the general registers that it may name. Code with the same number
// of registers, as the last USETMAXREG on any way to it says, is one stretch; the highest register
// that the kernel names in it is its bound. 255 in code that nothing reaches.
std::vector<int> register_limits(const Program& program);

// A sentence where `after`, the same code with other registers, exceeds the limits of `before`; ""
// where it does not.
std::string beyond_limits(const Program& before, const Program& after);

}  // namespace tessera::sass
