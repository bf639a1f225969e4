// The fields of an instruction that name general registers: the decoder says which of the fields at
// bits 16, 24, 32 and 64 do.
#pragma once

#include <array>
#include <vector>

#include "sass/decode/operation.h"

namespace tessera::sass {

inline constexpr int kNoRegister = 255;  // RZ
// Bits where instructions may name a general register: each field has 8.
inline constexpr std::array kRegisterFields = {16, 24, 32, 64};

struct RegisterField {
  int first = 0;  // bit
  // Which of Operation::reads and writes it names: one of them, or one of each where the same
  // register is read and written.
  std::vector<std::size_t> reads, writes;
};
// Fields that name only RZ are left out.
std::vector<RegisterField> register_fields(const Instruction& instruction, int sm);
// The same, of an instruction that was decoded already.
std::vector<RegisterField> register_fields(const Instruction& instruction, int sm,
                                           const Operation& operation);

// The instruction with another number in one of these fields.
Instruction with_register(Instruction instruction, int first, int reg);

}  // namespace tessera::sass
