// Lets a kernel's text name registers: after ".name a0-a7 = R64-R71", a3 is R67. Internal to
// src/sass.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::sass {

// Returns the names that one ".name" line defines, each with its register, in order. Throws
// AssemblyError.
std::vector<std::pair<std::string, std::string>> register_names(std::string_view text,
                                                                std::size_t line);

}  // namespace tessera::sass
