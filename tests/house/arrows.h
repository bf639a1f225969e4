// The include arrows of the house (docs/architecture.md): which room may include which.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tessera::house {

// The room of a file, from its path: "cli", "lab/data", "device/virtual", "kernels/tile",
// "ladder/07_vector_access", "tools". The pages of the ladder are rooms of their own: "page"
// (ladder/shared/common.h), "vectors", "async", "packed".
std::string room_of(std::string_view path);

// One sentence for each include of the file that no arrow allows, and for each "asm" outside
// src/kernels/ptx/.
std::vector<std::string> violations(const std::string& path, const std::string& text);

}  // namespace tessera::house
