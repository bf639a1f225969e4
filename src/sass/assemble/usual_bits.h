// Fields that no text shows, and what ptxas writes into them. Internal to src/sass.
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

// An instruction of this key whose fields have the values that ptxas gives them most often where
// the text does not show them. Keys that no compiled code has: predicates that are always true.
Instruction usual_bits(int key, int sm);
// Whether compiled code of this architecture was seen to have the key.
bool is_usual(int key, int sm);

}  // namespace tessera::sass
