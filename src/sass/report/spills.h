// A register that a main loop keeps in memory costs a load in each iteration. The kernel stays
// correct and becomes slow, which nothing else reports. The build checks this for each image.
#pragma once

#include <string>
#include <vector>

#include "sass/container/cubin.h"

namespace tessera::sass {

// One sentence for each multiplying loop without inner loops that has more than `known` loads and
// stores of local memory. Spills elsewhere, at a kernel's start or in its epilogue, do not matter.
std::vector<std::string> main_loop_spills(const CubinFile& cubin, int known = 0);

}  // namespace tessera::sass
