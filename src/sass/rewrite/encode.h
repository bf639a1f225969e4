// Encodes single instructions. Experiments on register ports need exact instructions, but a
// compiler chooses registers, order and reuse flags itself. The bytes are those of ptxas for sm_90.
// All instructions have a stall of 1 and no flags; with_control() sets others.
#pragma once

#include <cstdint>

#include "sass/decode/instruction.h"
#include "sass/decode/operation.h"

namespace tessera::sass {

inline constexpr int kZeroRegister = 255;  // RZ reads as 0; writes to it are discarded

// d = a * b + c in FP32, and forms in which b is not a register of the thread: ffma_uniform() takes
// a uniform register (UR), ffma_immediate() a 32-bit immediate, and ffma_constant() a word of bank
// 0 of constant memory.
Instruction ffma(int d, int a, int b, int c);
Instruction ffma_uniform(int d, int a, int uniform, int c);
Instruction ffma_immediate(int d, int a, float b, int c);
Instruction ffma_constant(int d, int a, int constant_bytes, int c);
Instruction fmul(int d, int a, int b);
Instruction fadd(int d, int a, int b);

Instruction imad(int d, int a, int b, int c);
Instruction imad_immediate(int d, int a, std::uint32_t b, int c);
Instruction iadd3(int d, int a, int b, int c);
Instruction iadd3_immediate(int d, int a, std::uint32_t b, int c);
Instruction mov(int d, int from);
Instruction mov_immediate(int d, std::uint32_t value);
Instruction mov_uniform_immediate(int uniform, std::uint32_t value);

// Accesses to shared memory: `bits` is 32, 64 or 128 per lane; the address is a register plus
// `bytes`.
Instruction lds(int bits, int d, int address, int bytes);
Instruction sts(int bits, int address, int bytes, int data);
// Loads a word of bank 0 of constant memory.
Instruction ldc(int d, int constant_bytes);

enum class SpecialRegister { kLane = 0x00, kThread = 0x21 };
Instruction s2r(int d, SpecialRegister from);

// Set the predicate to a != b, or to a > b for signed integers.
Instruction isetp_not_equal(int predicate, int a, int b);
Instruction isetp_greater(int predicate, int a, std::int32_t b);
// A branch for sm_90 and later; `from` and `to` are byte offsets in the kernel.
Instruction bra(std::int64_t from, std::int64_t to);
Instruction nop();

// Returns the instruction with a guard: it runs if the predicate is true.
Instruction guarded(Instruction instruction, int predicate);

}  // namespace tessera::sass
