// One line of a kernel in text: the control field, the instruction, bits that no text shows.
// Internal to src/sass.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "sass/assemble/assembly_error.h"
#include "sass/decode/operation.h"

namespace tessera::sass {

// " 1 - w- r- ------" and, where an instruction that yields has one, its tag " #5".
std::string control_text(const Control& control);

// The instruction as text, followed by bits that the text does not show, if they have unusual
// values: "FFMA R1, R2, R3, R4 ; bits 102 = 0x1". Words of 64 bits if nothing is known about it.
std::string instruction_text(const Instruction& instruction, std::uint64_t offset, int sm);

// The meanings of names in a kernel: registers and places.
using Names = std::map<std::string, std::string, std::less<>>;

// The instruction of a line of code, `offset` bytes from the start of its kernel. Names are
// replaced by their meanings. Throws AssemblyError.
Instruction instruction_of_line(std::string_view text, std::size_t line, std::uint64_t offset,
                                int sm, const Names& names);

}  // namespace tessera::sass
