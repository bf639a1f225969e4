// A function while it is decoded. The operands of operations are still values (virtual registers),
// without places in a frame.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "vgpu/program/program.h"

namespace tessera::vgpu {

using Value = std::uint32_t;  // an index into Draft::values
constexpr Value kNoValue = ~Value{0};

struct DraftValue {
  Scalar scalar = Scalar::kNone;
  bool permanent = false;  // a constant or special register: never written
};

struct DraftOp {
  Op op;
  std::array<Value, kMaxOperands> values{};
  std::uint8_t writes = 0, count = 0;  // the first `writes` of `count` values are written
  // For an operation with more than kMaxOperands operands: the further operands (Op::list). The
  // first `list_writes` of them are written.
  std::vector<Value> list;
  std::uint32_t list_writes = 0;
  // Values that must keep their places until this operation although it does not read them, because
  // an asynchronous operation may still write them. Only liveness counts them as read.
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

// Gives each value a place in the frame; places of values that are no longer live are reused. Then
// writes the function's operations, blocks and prefills.
struct Liveness;
void assign_slots(const Draft& draft, const Liveness& liveness, Function& function);

}  // namespace tessera::vgpu
