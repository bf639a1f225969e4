// A register that a main loop keeps in memory costs a load in each iteration, and nothing else says
// so: the kernel stays correct and becomes slow. The build asks this of each image.
#pragma once

#include <string>
#include <vector>

#include "sass/container/cubin.h"

namespace tessera::sass {

// One sentence for each loop that multiplies, holds no other loop, and has more than `known` loads
// and stores of local memory. Spills elsewhere, at a kernel's start or in its epilogue, are no
// matter.
std::vector<std::string> main_loop_spills(const CubinFile& cubin, int known = 0);

}  // namespace tessera::sass
