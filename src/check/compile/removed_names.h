// Names that older programs use and that CUDA 13 no longer has. Most are host functions, on which
// no kernel depends; old shuffles and votes become the _sync forms with __activemask().
#pragma once

#include <string>
#include <vector>

namespace tessera::checking {

// Returns macros that replace removed names, "cudaThreadSynchronize cudaDeviceSynchronize", if all
// errors of the compiler are about removed names. Returns no macros if there is any other error.
std::vector<std::string> replacements_for(const std::string& said);

}  // namespace tessera::checking
