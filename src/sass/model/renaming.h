// Which register a value lives in decides which bank it is read from. Renaming registers in a whole
// kernel changes no value, as long as tuples stay tuples.
#pragma once

#include <array>

#include "sass/decode/instruction.h"

namespace tessera::sass {

// Where each general register of the first version lives in the second: a permutation.
using Renaming = std::array<int, 256>;
Renaming no_renaming();

// The instruction with its general registers renamed. The first register of a tuple is renamed; the
// caller must ensure that the others follow. Throws std::runtime_error on instructions outside of
// our table, unless the renaming changes nothing.
Instruction renamed(const Instruction& instruction, int sm, const Renaming& renaming);

}  // namespace tessera::sass
