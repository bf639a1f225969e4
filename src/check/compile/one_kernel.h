// The PTX of a file with many kernels, without the kernels that are not checked. Each run loads the
// PTX anew, and a library's templates make hundreds of kernels.
#pragma once

#include <string>

namespace tessera::checking {

// The PTX with the other kernels blanked out; every line keeps its number. The PTX stays whole if
// the rest names another kernel, or if the kernel is not found.
std::string with_one_kernel(const std::string& ptx, const std::string& kernel);

}  // namespace tessera::checking
