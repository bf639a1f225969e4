// Converts a cubin into text that a person can edit, and back. The text holds every instruction
// with its control field, labels at branch targets, and all bytes of the file that are not code, so
// that the same cubin can be made from the text alone, bit for bit. docs/sass-by-hand.md shows how
// to work with it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sass/assemble/assembly_error.h"

namespace tessera::sass {

// Returns the cubin as text. Kernels whose names contain `part` become instructions, everything
// else becomes data. Throws std::runtime_error if the file is not a cubin or has no such kernel.
std::string assembly_text(std::span<const std::byte> cubin, std::string_view part = "");

// Returns the cubin that the text describes. Throws AssemblyError if the text is not code that the
// GPU can run.
std::vector<std::byte> assemble(std::string_view text);

}  // namespace tessera::sass
