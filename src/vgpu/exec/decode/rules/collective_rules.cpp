// Rules of instructions that the lanes of a warp run together. They are control, because lanes may
// have to wait for each other. The last operand is the member mask.
#include <array>

#include "vgpu/exec/decode/decoder.h"

namespace tessera::vgpu {
namespace {

Value source(Decoder& decoder, const ptx::Operand& operand, Scalar scalar) {
  const Value value = decoder.read(operand, scalar);
  if (!operand.negate) return value;
  const Value inverted = decoder.temporary(Scalar::kPredicate);
  decoder.emit("not.pred", {inverted, value});
  return inverted;
}

// Returns the second destination of d|p; a temporary if it is missing.
Value second(Decoder& decoder, const ptx::Operand& operand, Scalar scalar) {
  if (operand.second.empty()) return decoder.temporary(scalar);
  ptx::Operand named = operand;
  named.kind = ptx::OperandKind::kRegister;
  named.name = operand.second;
  return decoder.write(named, scalar);
}

void decode_collective(Decoder& decoder, const ptx::Instruction& instruction) {
  std::string name = instruction.opcode;
  for (const std::string& modifier : instruction.modifiers) name += '.' + modifier;
  const Operation& operation = decoder.operation(name);
  const Signature& signature = operation.signature;
  const auto& operands = instruction.operands;
  if (operands.size() + signature.writes != std::size_t{signature.count} + 1) {
    decoder.unsupported("wrong operand count");
  }
  std::array<Value, kMaxOperands> values{};
  for (int i = signature.writes; i < signature.count; ++i) {
    values[i] = source(decoder, operands[i - signature.writes + 1], signature.operand[i]);
  }
  values[0] = decoder.write(operands[0], signature.operand[0]);
  if (signature.writes == 2) values[1] = second(decoder, operands[0], signature.operand[1]);
  Control& control = decoder.control(ControlKind::kCollective,
                                     std::span(values.data(), signature.count), signature.writes);
  control.member_mask_operand = signature.count - 1;
  // WHY elect also synchronises memory: the elected lane then acts for all lanes that have arrived.
  control.exchanges = instruction.opcode != "elect";
  decoder.control_op().op.run = operation.run;
}

constexpr std::array kRules = {
    RuleEntry{"shfl", decode_collective},  RuleEntry{"vote", decode_collective},
    RuleEntry{"match", decode_collective}, RuleEntry{"redux", decode_collective},
    RuleEntry{"elect", decode_collective},
};

}  // namespace

std::span<const RuleEntry> collective_rules() { return kRules; }

}  // namespace tessera::vgpu
