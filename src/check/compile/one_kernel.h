// Removes the kernels that are not checked from the PTX of a file. Each run loads the PTX anew, and
// a library's templates make hundreds of kernels.
#pragma once

#include <string>

namespace tessera::checking {

// Returns the PTX with the other kernels blanked out, so that every line keeps its number. The PTX
// is not changed if it names another kernel outside of the kernels, or if the kernel is not found.
std::string with_one_kernel(const std::string& ptx, const std::string& kernel);

}  // namespace tessera::checking
