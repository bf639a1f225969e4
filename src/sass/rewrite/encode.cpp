#include "sass/rewrite/encode.h"

#include <bit>
#include <stdexcept>

namespace tessera::sass {
namespace {

constexpr std::uint64_t kAlways = 7;  // guard predicate PT

// HW: fields as in the open assemblers (CuAssembler, turingas, Mesa's NAK). The bits above an
// opcode's operands were compared with those that ptxas 13.0 writes for sm_90a.
constexpr std::uint64_t field(int first, std::uint64_t value) { return value << first; }

std::uint64_t reg(int number) {
  if (number < 0 || number > kZeroRegister) throw std::invalid_argument("no such register");
  return static_cast<std::uint64_t>(number);
}

// Returns an instruction with registers in the usual fields. `high` holds its other bits from bit
// 64 on.
Instruction make(int opcode, int d, int a, std::uint64_t from_bit_32, std::uint64_t high) {
  const auto code = static_cast<std::uint64_t>(opcode);
  const Instruction made{field(0, code) | field(12, kAlways) | field(16, reg(d)) |
                             field(24, reg(a)) | field(32, from_bit_32),
                         high};
  return with_control(made, Control{.stall = 1});
}

constexpr std::uint64_t kUsesUniform = field(91 - 64, 1);
constexpr std::uint64_t kFmulScaleNone = field(84 - 64, 4);
constexpr std::uint64_t kImadSigned = 0x078e0200;  // signed, without carry predicates
constexpr std::uint64_t kIadd3Plain = 0x07ffe000;  // without carry in or out
constexpr std::uint64_t kMovAllLanes = field(72 - 64, 0xF);
constexpr std::uint64_t kBraAlways = field(87 - 64, kAlways);

std::uint64_t constant_place(int bytes) {  // shifted by 32: bits 40-53 hold the word offset
  return field(40 - 32, static_cast<std::uint64_t>(bytes / 4));
}

std::uint64_t memory_size(int bits) { return field(73 - 64, bits == 32 ? 4 : bits == 64 ? 5 : 6); }

std::uint64_t address_offset(int bytes) {
  return field(40 - 32, static_cast<std::uint64_t>(bytes) & 0xFFFFFF);
}

}  // namespace

Instruction ffma(int d, int a, int b, int c) { return make(0x223, d, a, reg(b), reg(c)); }

Instruction ffma_uniform(int d, int a, int uniform, int c) {
  return make(0xc23, d, a, reg(uniform), reg(c) | kUsesUniform);
}

Instruction ffma_immediate(int d, int a, float b, int c) {
  return make(0x823, d, a, std::bit_cast<std::uint32_t>(b), reg(c));
}

Instruction ffma_constant(int d, int a, int constant_bytes, int c) {
  return make(0xa23, d, a, constant_place(constant_bytes), reg(c));
}

Instruction fmul(int d, int a, int b) { return make(0x220, d, a, reg(b), kFmulScaleNone); }
Instruction fadd(int d, int a, int b) { return make(0x221, d, a, reg(b), 0); }

Instruction imad(int d, int a, int b, int c) {
  return make(0x224, d, a, reg(b), reg(c) | kImadSigned);
}

Instruction imad_immediate(int d, int a, std::uint32_t b, int c) {
  return make(0x824, d, a, b, reg(c) | kImadSigned);
}

Instruction iadd3(int d, int a, int b, int c) {
  return make(0x210, d, a, reg(b), reg(c) | kIadd3Plain);
}

Instruction iadd3_immediate(int d, int a, std::uint32_t b, int c) {
  return make(0x810, d, a, b, reg(c) | kIadd3Plain);
}

Instruction mov(int d, int from) { return make(0x202, d, 0, reg(from), kMovAllLanes); }
Instruction mov_immediate(int d, std::uint32_t value) {
  return make(0x802, d, 0, value, kMovAllLanes);
}
Instruction mov_uniform_immediate(int uniform, std::uint32_t value) {
  return make(0x882, uniform, 0, value, 0);
}

Instruction lds(int bits, int d, int address, int bytes) {
  return make(0x984, d, address, address_offset(bytes), memory_size(bits));
}

Instruction sts(int bits, int address, int bytes, int data) {
  return make(0x388, 0, address, reg(data) | address_offset(bytes), memory_size(bits));
}

Instruction ldc(int d, int constant_bytes) {
  return make(0xb82, d, kZeroRegister, constant_place(constant_bytes), memory_size(32));
}

Instruction s2r(int d, SpecialRegister from) {
  return make(0x919, d, 0, 0, field(72 - 64, static_cast<std::uint64_t>(from)));
}

Instruction isetp_not_equal(int predicate, int a, int b) {
  return make(0x20c, 0, a, reg(b), 0x03f05270 | field(81 - 64, predicate));
}

Instruction isetp_greater(int predicate, int a, std::int32_t b) {
  return make(0x80c, 0, a, static_cast<std::uint32_t>(b), 0x03f04270 | field(81 - 64, predicate));
}

// HW: the distance is encoded as branch_target() reads it; its lowest 8 bits are in the field where
// other instructions have Rd.
Instruction bra(std::int64_t from, std::int64_t to) {
  const auto distance =
      static_cast<std::uint64_t>((to - from - static_cast<std::int64_t>(kInstructionBytes)) / 4);
  const std::uint64_t upper = distance >> 8 & ((std::uint64_t{1} << 48) - 1);
  Instruction made = make(0x947, static_cast<int>(distance & 0xFF), 0, 0, kBraAlways | upper >> 30);
  made.low |= upper << 34;
  return made;
}

Instruction nop() { return make(0x918, 0, 0, 0, 0); }

Instruction guarded(Instruction instruction, int predicate) {
  instruction.low = (instruction.low & ~field(12, 0xF)) | field(12, predicate);
  return instruction;
}

}  // namespace tessera::sass
