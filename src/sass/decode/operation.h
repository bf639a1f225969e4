// The meaning of one machine instruction: its text, the registers that it reads and writes, and the
// control field by which ptxas schedules it. The hardware does not wait for results of fixed
// latency, so the control field is part of a program's correctness. All code that moves
// instructions takes these facts from here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sass/decode/instruction.h"

namespace tessera::sass {

// The control field: bits 105 to 125 of an instruction.
struct Control {
  int stall = 0;              // cycles before this warp may issue again, 0 to 15
  bool yields = false;        // bit 109 is 0: another warp is preferred; no reuse flags then
  int write_scoreboard = -1;  // 0 to 5, released when the results are written; -1: none
  int read_scoreboard = -1;   // 0 to 5, released when the sources were read; -1: none
  unsigned wait_mask = 0;     // scoreboards 0 to 5 that must be free before the issue
  unsigned reuse = 0;         // bit i: logical operand i stays in the reuse cache
  unsigned batch = 0;  // HW: a tag in the bits of `reuse`, if it yields; seen on counted DEPBARs
};
Control control_of(const Instruction& instruction);
// Returns the instruction with another control field. Throws std::invalid_argument if the hardware
// does not have this combination of stall, yield and reuse.
Instruction with_control(Instruction instruction, const Control& control);

enum class RegisterFile { kGeneral, kUniform, kPredicate, kUniformPredicate };

// Neighbouring registers that one operand names. RZ, URZ, PT and UPT never appear.
struct RegisterUse {
  RegisterFile file = RegisterFile::kGeneral;
  int first = 0, count = 1;
  int operand = -1;  // logical operand 0, 1, 2 of a read (A, B, C), for ports and reuse
};

enum class Timing {
  kFixed,     // done after a known number of cycles
  kVariable,  // memory, conversions, FP64, ...: a scoreboard shows the end
  kControl,   // branches, barriers, waits
};

struct Operation {
  std::string name;  // name_of(): "FFMA", "LDS.128"
  std::string text;  // as in disassemblers, with the guard: "@!P0 FFMA R4, R64, R72, R4"
  std::vector<RegisterUse> reads, writes;
  Control control;
  Timing timing = Timing::kControl;
  bool known = false;  // false: not in our table, so any register may be read or written
};

// `offset` is the position of the instruction in its kernel in bytes, `sm` the architecture (90).
Operation decode(const Instruction& instruction, std::uint64_t offset, int sm);
// Returns the text alone, including what disassemblers leave out (descriptors before sm_90).
std::string assembly_of(const Instruction& instruction, std::uint64_t offset, int sm);

}  // namespace tessera::sass
