#include "vgpu/observe/flow/registers.h"

#include "vgpu/exec/decode/form.h"

namespace tessera::vgpu {
namespace {

void add_names(const ptx::Operand& operand, std::vector<std::string>& names) {
  const bool is_address = operand.kind == ptx::OperandKind::kAddress;
  if (operand.kind == ptx::OperandKind::kRegister || (is_address && operand.address_is_register)) {
    names.push_back(operand.name);
  }
  if (!operand.second.empty()) names.push_back(operand.second);
  for (const ptx::Operand& element : operand.elements) {
    if (element.kind == ptx::OperandKind::kSymbol) names.push_back(element.name);
    add_names(element, names);
  }
}

bool writes_first(const ptx::Instruction& one) {
  if (one.operands.empty()) return false;
  const ptx::OperandKind kind = one.operands[0].kind;
  if (kind != ptx::OperandKind::kRegister && kind != ptx::OperandKind::kVector) return false;
  if (one.opcode == "bar" || one.opcode == "barrier") return has_modifier(one, "red");
  return one.opcode != "nanosleep";
}

}  // namespace

Effects effects_of(const ptx::Instruction& instruction) {
  Effects effects;
  const bool writes = writes_first(instruction);
  if (writes) add_names(instruction.operands[0], effects.writes);
  const bool adds_to_it = instruction.opcode == "wgmma";
  for (std::size_t i = writes && !adds_to_it ? 1 : 0; i < instruction.operands.size(); ++i) {
    add_names(instruction.operands[i], effects.reads);
  }
  return effects;
}

}  // namespace tessera::vgpu
