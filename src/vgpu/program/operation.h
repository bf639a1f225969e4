// The table of operations: "fma.f32" and its options -> the function that runs it, and the operands
// that it takes. The decoder looks forms up here; the files in ops/ fill the table.
#pragma once

#include <cstdint>

#include "vgpu/program/op.h"

namespace tessera::vgpu {

// The kind of value in a register or constant, as far as it matters to the executor.
enum class Scalar : std::uint8_t { kNone, kPredicate, k16, k32, k64, k128, kF16, kF32, kF64 };

// Modifiers that change the result but not the operands.
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

// Destinations first, in the order of PTX.
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

// All tables of one instruction set, ended by an empty one.
namespace avx2 {
extern const OperationTable* const kTables[];
}
namespace avx512 {
extern const OperationTable* const kTables[];
}

}  // namespace tessera::vgpu
