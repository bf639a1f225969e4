// Finds the fields of an instruction that name general registers. The decoder says which of the
// fields at bits 16, 24, 32 and 64 name a register.
#pragma once

#include <array>
#include <vector>

#include "sass/decode/operation.h"

namespace tessera::sass {

inline constexpr int kNoRegister = 255;  // RZ
// The first bits of the fields that may name a general register. Each field has 8 bits.
inline constexpr std::array kRegisterFields = {16, 24, 32, 64};

struct RegisterField {
  int first = 0;  // bit
  // The indices in Operation::reads and writes of the uses that the field names: one use, or a read
  // and a write if the instruction reads and writes the same register.
  std::vector<std::size_t> reads, writes;
};
// Returns the fields that name general registers, without those that name only RZ.
std::vector<RegisterField> register_fields(const Instruction& instruction, int sm);
// Like the function above, for an instruction that is already decoded.
std::vector<RegisterField> register_fields(const Instruction& instruction, int sm,
                                           const Operation& operation);

// Returns the instruction with another register number in the field at bit `first`.
Instruction with_register(Instruction instruction, int first, int reg);

}  // namespace tessera::sass
