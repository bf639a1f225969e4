// A function while it is being decoded: operations whose operands are still values (virtual
// registers), not yet places in a frame.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "vgpu/program/program.h"

namespace tessera::vgpu {

using Value = std::uint32_t;  // index in Draft::values
constexpr Value kNoValue = ~Value{0};

struct DraftValue {
  Scalar scalar = Scalar::kNone;
  bool permanent = false;  // a constant or special register: never written
};

struct DraftOp {
  Op op;
  std::array<Value, kMaxOperands> values{};
  std::uint8_t writes = 0, count = 0;  // the first `writes` of `count` values are written
  // Further operands, of an operation with more than kMaxOperands: Op::list. The first
  // `list_writes` are written.
  std::vector<Value> list;
  std::uint32_t list_writes = 0;
  // Values that must keep their places until here although the operation does not read them: what
  // an asynchronous operation still writes. Reads for liveness alone.
  std::vector<Value> holds;
  Value guard = kNoValue;
  bool guard_negated = false;
};

struct DraftBlock {
  std::vector<DraftOp> ops;
  DraftOp end;  // operands and guard of the control instruction
  Control control;
  std::uint32_t first_instruction = 0, last_instruction = 0;
};

struct Draft {
  std::vector<DraftValue> values;
  std::vector<Prefill> prefills;  // offset: still the value
  std::vector<DraftBlock> blocks;
};

// Gives every value a place in the frame, reusing places of values that are no longer live, and
// writes the function's operations, blocks and prefills.
struct Liveness;
void assign_slots(const Draft& draft, const Liveness& liveness, Function& function);

}  // namespace tessera::vgpu
