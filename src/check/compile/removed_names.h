// Names that older programs use and CUDA 13 no longer has. Most are host functions, and no kernel
// depends on them; old shuffles and votes become those of the active lanes.
#pragma once

#include <string>
#include <vector>

namespace tessera::checking {

// Macros that replace such names, if all of a compiler's errors are about them:
// "cudaThreadSynchronize cudaDeviceSynchronize". Empty if there is any other error.
std::vector<std::string> replacements_for(const std::string& said);

}  // namespace tessera::checking
