// The table of operations maps "fma.f32" and its options to the function that runs the operation
// and to the kinds of its operands. The decoder reads the table; the files in ops/ fill it.
#pragma once

#include <cstdint>

#include "vgpu/program/op.h"

namespace tessera::vgpu {

// The kind of value in a register or constant, as far as the executor distinguishes kinds.
enum class Scalar : std::uint8_t { kNone, kPredicate, k16, k32, k64, k128, kF16, kF32, kF64 };

// Modifiers that change the result of an operation but not its operands.
using Options = std::uint32_t;
enum Option : Options {
  kDefault = 0,
  kFtz = 1,
  kSat = 2,
  kRz = 4,
  kRm = 8,
  kRp = 16,
  kApprox = 32,  // .approx and .full
  kNanOption = 64,
  kXorsign = 128,  // .xorsign.abs
  kRelu = 256,
  kRoundings = kRz | kRm | kRp,
};

// The kinds of an operation's operands in the order of PTX: destinations first.
struct Signature {
  std::uint8_t writes = 0;
  std::uint8_t count = 0;
  Scalar operand[kMaxOperands] = {};
};

struct Operation {
  const char* name;  // opcode and what selects the operation, "mul.wide.u32"
  Options options;
  Run run;
  Signature signature;
};

struct OperationTable {
  const Operation* first = nullptr;
  std::uint32_t count = 0;
};

// All tables of one instruction set. The last table is empty and marks the end.
namespace avx2 {
extern const OperationTable* const kTables[];
}
namespace avx512 {
extern const OperationTable* const kTables[];
}

}  // namespace tessera::vgpu
