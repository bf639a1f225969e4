// wmma.load, wmma.mma, wmma.store and mma.sync on doubles. A load or store becomes addresses and
// plain accesses, which each lane does for itself; the multiplication needs the whole warp.
#include <array>

#include "vgpu/exec/decode/decoder.h"
#include "vgpu/exec/ops/flags.h"
#include "vgpu/exec/ops/matrix_flags.h"

namespace tessera::vgpu {
namespace {

struct Fragment {
  std::uint32_t map = 0;
  int registers = 1;
  std::uint64_t stride = 0;  // where none is given
};

// A's inner index is the column, B's the row (both k), the accumulator's the column.
Fragment fragment_of(Decoder& decoder, const ptx::Instruction& instruction) {
  if (!has_modifier(instruction, "m8n8k4") || !has_modifier(instruction, "f64")) {
    decoder.unsupported("only m8n8k4 on doubles is implemented");
  }
  const bool columns = has_modifier(instruction, "col");
  const bool is_a = has_modifier(instruction, "a"), is_b = has_modifier(instruction, "b");
  Fragment fragment;
  const bool inner_strided = is_b ? !columns : columns;
  fragment.map = inner_strided ? kInnerStrided : 0;
  fragment.stride = (is_a || is_b) && !inner_strided ? 4 : 8;
  if (!is_a && !is_b) {
    fragment.map |= kAccumulator;
    fragment.registers = 2;
  }
  return fragment;
}

Window window_of(const ptx::Instruction& instruction) {
  if (has_modifier(instruction, "global")) return Window::kGlobal;
  const bool shared =
      has_modifier(instruction, "shared") || has_modifier(instruction, "shared::cta");
  return shared ? Window::kShared : Window::kGeneric;
}

// Registers of a fragment: {a, b} or a alone.
const ptx::Operand& element(const ptx::Operand& operand, int i) {
  return operand.kind == ptx::OperandKind::kVector ? operand.elements.at(std::size_t(i)) : operand;
}

// Emits what computes the addresses for register i; `offset` is what the access must add.
Value fragment_address(Decoder& decoder, const ptx::Instruction& instruction,
                       const ptx::Operand& where, const Fragment& fragment, int i,
                       std::int64_t& offset) {
  bool wide = true;
  Value base = decoder.address(where, window_of(instruction), offset, wide);
  if (!wide) {
    const Value widened = decoder.temporary(Scalar::k64);
    decoder.emit("mov.pack.b64.2", {widened, base, decoder.constant(Scalar::k32, 0)});
    base = widened;
  }
  const Value stride = instruction.operands.size() > 2
                           ? decoder.read(instruction.operands[2], Scalar::k32)
                           : decoder.constant(Scalar::k32, fragment.stride);
  const Value address = decoder.temporary(Scalar::k64);
  DraftOp& op = decoder.emit("wmma.address.m8n8k4.f64", {address, base, stride});
  op.op.flags = fragment.map | (i == 1 ? kSecondRegister : 0);
  return address;
}

void decode_transfer(Decoder& decoder, const ptx::Instruction& instruction, bool loads) {
  const Fragment fragment = fragment_of(decoder, instruction);
  const ptx::Operand& registers = instruction.operands.at(loads ? 0 : 1);
  const ptx::Operand& where = instruction.operands.at(loads ? 1 : 0);
  // WHY all addresses first: a register that is loaded may be the base.
  std::array<Value, 2> addresses{};
  std::int64_t offset = 0;
  for (int i = 0; i < fragment.registers; ++i) {
    addresses[i] = fragment_address(decoder, instruction, where, fragment, i, offset);
  }
  for (int i = 0; i < fragment.registers; ++i) {
    const ptx::Operand& one = element(registers, i);
    DraftOp& op = loads ? decoder.emit("ld.u64.64", {decoder.write(one, Scalar::k64), addresses[i]})
                        : decoder.emit("st.64.64", {addresses[i], decoder.read(one, Scalar::k64)});
    op.op.immediate = offset;
    op.op.flags = static_cast<std::uint32_t>(window_of(instruction)) | kAddress64;
  }
}

void decode_multiply(Decoder& decoder, const ptx::Instruction& instruction) {
  fragment_of(decoder, instruction);
  const auto& operands = instruction.operands;
  if (operands.size() != 4) decoder.unsupported("wrong operand count");
  const auto& operation = decoder.operation("mma.m8n8k4.f64");
  const Scalar d = Scalar::kF64;
  const std::array values{
      decoder.write(element(operands[0], 0), d), decoder.write(element(operands[0], 1), d),
      decoder.read(element(operands[1], 0), d),  decoder.read(element(operands[2], 0), d),
      decoder.read(element(operands[3], 0), d),  decoder.read(element(operands[3], 1), d)};
  decoder.control(ControlKind::kCollective, values, 2);
  decoder.control_op().op.run = operation.run;
}

void decode_wmma(Decoder& decoder, const ptx::Instruction& instruction) {
  if (has_modifier(instruction, "mma")) return decode_multiply(decoder, instruction);
  decode_transfer(decoder, instruction, has_modifier(instruction, "load"));
}

// mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64
void decode_mma(Decoder& decoder, const ptx::Instruction& instruction) {
  decode_multiply(decoder, instruction);
}

constexpr std::array kRules = {RuleEntry{"wmma", decode_wmma}, RuleEntry{"mma", decode_mma}};

}  // namespace

std::span<const RuleEntry> matrix_rules() { return kRules; }

}  // namespace tessera::vgpu
