// A row of the table of fields that an instruction's text does not show, with the values that ptxas
// writes into them. Internal to src/sass.
#pragma once

#include <span>

#include "sass/decode/instruction.h"

namespace tessera::sass {

struct UsualBits {
  int key;                  // Instruction::key()
  int first_sm, last_sm;    // architectures
  std::uint64_t low, high;  // the opcode included
};
std::span<const UsualBits> usual_rows();

// Returns an instruction with this key in which each field that the text does not show has the
// value that ptxas writes most often. If no compiled code has the key, predicates are set to true.
Instruction usual_bits(int key, int sm);
// Whether the key was seen in compiled code of this architecture.
bool is_usual(int key, int sm);

}  // namespace tessera::sass
