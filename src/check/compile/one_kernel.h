// PTX of a file of many kernels without those that are not meant. Each run loads the PTX anew, and
// a library's templates make hundreds of kernels.
#pragma once

#include <string>

namespace tessera::checking {

// The PTX with the other kernels blanked out; every line keeps its number. All of it where what is
// left names another kernel, or where the kernel is not found.
std::string with_one_kernel(const std::string& ptx, const std::string& kernel);

}  // namespace tessera::checking
