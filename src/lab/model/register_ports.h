// Cycles that an instruction loses because its sources lie in the same register bank.
//
// HW: two banks by parity of the register's number, one read each bank and cycle; a reuse cache of
// one entry for each operand slot (Huerta et al., MICRO 2025). Only multiply-adds with three
// register sources are looked at: they are what fills the loops of a matrix product.
#pragma once

#include <array>

#include "sass/instruction.h"

namespace tessera::lab {

class RegisterPorts {
 public:
  // Of the next instruction in order.
  int bubbles(const sass::Instruction& instruction);

 private:
  // The register kept for each operand slot and bank; none at first.
  std::array<std::array<int, 2>, 3> cached_ = {{{-1, -1}, {-1, -1}, {-1, -1}}};
};

}  // namespace tessera::lab
