// Finds registers that a main loop keeps in memory (spills): each costs a load in every iteration.
// The kernel stays correct but becomes slow, which nothing else reports. The build checks this for
// each image.
#pragma once

#include <string>
#include <vector>

#include "sass/container/cubin.h"

namespace tessera::sass {

// Returns one sentence for each multiplying loop without inner loops that has more than `known`
// loads and stores of local memory. Spills elsewhere, at a kernel's start or in its epilogue, do
// not matter.
std::vector<std::string> main_loop_spills(const CubinFile& cubin, int known = 0);

}  // namespace tessera::sass
