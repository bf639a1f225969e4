// Renames registers in a whole kernel. A value's register decides from which bank it is read.
// Renaming changes no value, as long as tuples stay tuples.
#pragma once

#include <array>

#include "sass/decode/instruction.h"

namespace tessera::sass {

// The register of the second version for each general register of the first. A permutation.
using Renaming = std::array<int, 256>;
Renaming no_renaming();

// Returns the instruction with its general registers renamed. Only the first register of a tuple is
// looked up; the caller must ensure that the others follow it. Throws std::runtime_error for an
// instruction that is not in the decoder's table, unless the renaming changes nothing.
Instruction renamed(const Instruction& instruction, int sm, const Renaming& renaming);

}  // namespace tessera::sass
