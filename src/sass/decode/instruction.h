// One machine instruction of sm_75 and later: 128 bits, of which a few fields are read here. Facts
// on the encoding: NVIDIA publishes none; these are the fields on which the open assemblers and
// compilers (CuAssembler, turingas, Mesa's NAK) agree.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tessera::sass {

inline constexpr std::uint64_t kInstructionBytes = 16;

struct Instruction {
  std::uint64_t low = 0, high = 0;  // bits 0-63 and 64-127

  // `count` bits from bit `first` of the 128; at most 64.
  std::uint64_t bits(int first, int count) const;
  // The bits that distinguish opcodes: bits 0-11, and bit 91 (a uniform register is used) as bit
  // 12.
  int key() const { return static_cast<int>(bits(0, 12) | bits(91, 1) << 12); }
  // No predicate guards it; a branch may depend on one more predicate, in bits 87-90.
  bool always_runs() const { return bits(12, 4) == 7 && bits(87, 4) == 7 && !asks_convergence(); }
  // BRA.DIV and BRA.CONV: whether it branches depends on the other threads of the warp.
  bool asks_convergence() const { return bits(0, 12) == 0x947 && bits(33, 1) != 0; }
  // Guarded by "not true". ptxas puts such loads in front of asynchronous copies; they do nothing.
  bool never_runs() const { return bits(12, 4) == 0xF; }
};

// "FFMA", "BAR"; memory instructions carry the width of one thread's access in bits: "LDS.128".
// Opcodes that this table does not know read "op_0x836".
std::string name_of(const Instruction& instruction);

// Where a relative branch at byte `offset` of its kernel leads, in bytes from the kernel's start;
// nullopt when it is no such branch. May lie outside of the kernel in damaged code.
std::optional<std::int64_t> branch_target(const Instruction& instruction, std::uint64_t offset,
                                          int sm);

}  // namespace tessera::sass
