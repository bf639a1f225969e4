// Removes the kernels that are not checked from the PTX of a file. WHY: each run loads the PTX
// again, and a library's templates make hundreds of kernels.
#pragma once

#include <string>

namespace tessera::checking {

// Returns the PTX with all other kernels blanked out; every line keeps its number. Returns the PTX
// unchanged if the rest of the text names a blanked kernel, or if `kernel` is not found.
std::string with_one_kernel(const std::string& ptx, const std::string& kernel);

}  // namespace tessera::checking
