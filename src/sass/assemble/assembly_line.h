// One line of a kernel as text: the control field, the instruction, and bits that the instruction's
// text does not show. Internal to src/sass.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "sass/assemble/assembly_error.h"
#include "sass/decode/operation.h"

namespace tessera::sass {

// Returns the control field as text, " 1 - w- r- ------". If the field holds a tag (Control::batch,
// only in instructions that yield), the tag follows: " #5".
std::string control_text(const Control& control);

// Returns the instruction as text. Bits that the text does not show follow if they have unusual
// values: "FFMA R1, R2, R3, R4 ; bits 102 = 0x1". An unknown instruction is written as two words of
// 64 bits.
std::string instruction_text(const Instruction& instruction, std::uint64_t offset, int sm);

// The meanings of names in a kernel: registers, or addresses of labels.
using Names = std::map<std::string, std::string, std::less<>>;

// Returns the instruction that a line of code describes, `offset` bytes from the start of its
// kernel. Names are replaced by their meanings. Throws AssemblyError.
Instruction instruction_of_line(std::string_view text, std::size_t line, std::uint64_t offset,
                                int sm, const Names& names);

}  // namespace tessera::sass
