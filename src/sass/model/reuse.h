// A reuse flag keeps an operand in its slot of the reuse cache for the next instruction that reads
// this slot. The flag is not checked by hardware: if the register is written in between, the old
// value is used. In an instruction that yields, the bits of the flags have another meaning.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "sass/decode/operation.h"

namespace tessera::sass {

// The reuse cache keeps registers by bank and by slot, which is the position of an operand in its
// instruction.
inline constexpr int kBanks = 2, kSlots = 3;

// Returns "" if the hardware has this combination of stall, yield and reuse, else a sentence that
// says why not. HW: stall 0 (wait until idle) and stalls of 12 to 15 occur only with a yield, and
// reuse flags only without a yield (the tables of denvdis; CuAssembler measured that longer stalls
// without yield wait 1 to 2 cycles).
std::string illegal_control(const Operation& operation);

struct ReuseFault {
  std::size_t at = 0;  // the instruction that would read a stale value or that flags no register
  std::string reason;
};
// Returns the faults in the reuse flags of straight code: flags on operands that are not registers,
// and uses of kept registers that were written since.
std::vector<ReuseFault> check_reuse(std::span<const Operation> code);

// Returns new reuse flags for straight code. An operand is flagged if the next reader of its slot
// and bank has a fixed latency and wants the same register, and nothing writes the register before.
// Only instructions for which `may_flag` holds get flags. No register is kept across an instruction
// that yields, or beyond the end.
// HW: other instructions may lie between both reads: ptxas keeps operands across LDS, LDG and BAR
// (in rungs 09-12), and sets no flag that is not used.
std::vector<unsigned> profitable_reuse(std::span<const Operation> code,
                                       const std::vector<bool>& may_flag);

}  // namespace tessera::sass
