// Registers by name: ".name a0-a7 = R64-R71" in a kernel, and a3 is R67 from there on. Internal to
// src/sass.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::sass {

// The meanings of the names of one such line, in order. Throws AssemblyError.
std::vector<std::pair<std::string, std::string>> register_names(std::string_view text,
                                                                std::size_t line);

}  // namespace tessera::sass
