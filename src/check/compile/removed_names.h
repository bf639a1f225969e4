// Names that older programs use and CUDA 13 no longer has. Most are of the host, and no kernel
// depends on them; old shuffles and votes are those of the lanes that are there.
#pragma once

#include <string>
#include <vector>

namespace tessera::checking {

// The macros that put others in their place, where all of a compiler's errors are of such names:
// "cudaThreadSynchronize cudaDeviceSynchronize". Empty where another error is among them.
std::vector<std::string> replacements_for(const std::string& said);

}  // namespace tessera::checking
