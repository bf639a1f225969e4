// One machine instruction of sm_75 and later: 128 bits, of which a few fields are read here. NVIDIA
// does not publish the encoding; these are the fields on which the open assemblers and compilers
// (CuAssembler, turingas, Mesa's NAK) agree.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tessera::sass {

inline constexpr std::uint64_t kInstructionBytes = 16;

struct Instruction {
  std::uint64_t low = 0, high = 0;  // bits 0-63 and 64-127

  // Returns `count` bits from bit `first` of the instruction on; `count` is at most 64.
  std::uint64_t bits(int first, int count) const;
  // Returns the bits that distinguish opcodes: bits 0-11 and, as bit 12 of the key, bit 91, which
  // is set if a uniform register is used.
  int key() const { return static_cast<int>(bits(0, 12) | bits(91, 1) << 12); }
  // Whether the instruction runs in any case: no predicate guards it, a branch has no second
  // predicate (bits 87-90), and it does not depend on convergence.
  bool always_runs() const { return bits(12, 4) == 7 && bits(87, 4) == 7 && !asks_convergence(); }
  // Whether the instruction is BRA.DIV or BRA.CONV, which depend on other threads of the warp.
  bool asks_convergence() const { return bits(0, 12) == 0x947 && bits(33, 1) != 0; }
  // Whether the guard is "not true". ptxas puts loads with this guard, which do nothing, before
  // asynchronous copies.
  bool never_runs() const { return bits(12, 4) == 0xF; }
};

// Returns the opcode's name: "FFMA", "BAR". Names of memory instructions end with the width of one
// thread's access in bits: "LDS.128". An unknown opcode is named "op_0x836".
std::string name_of(const Instruction& instruction);

// Returns where the relative branch at byte `offset` of its kernel leads, in bytes from the
// kernel's start. Returns nullopt if the instruction is no such branch. In damaged code the target
// may be outside the kernel.
std::optional<std::int64_t> branch_target(const Instruction& instruction, std::uint64_t offset,
                                          int sm);

}  // namespace tessera::sass
