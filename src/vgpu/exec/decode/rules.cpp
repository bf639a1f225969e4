// The rules by opcode. An opcode without a rule is decoded by the tables: its name and options
// select an operation, whose signature describes the operands.
#include <array>
#include <unordered_map>

#include "vgpu/exec/decode/decoder.h"

namespace tessera::vgpu {
namespace {

std::unordered_map<std::string_view, Rule> all_rules() {
  std::unordered_map<std::string_view, Rule> rules;
  for (const auto& list : {data_rules(), memory_rules(), control_rules(), collective_rules(),
                           carry_rules(), convert_rules(), atomic_rules(), matrix_rules(),
                           cluster_rules(), async_rules(), map_rules(), texture_rules()}) {
    for (const RuleEntry& entry : list) rules.emplace(entry.opcode, entry.rule);
  }
  return rules;
}

}  // namespace

void default_rule(Decoder& decoder, const ptx::Instruction& instruction) {
  const Form form = form_of(instruction);
  const Operation& operation = decoder.operation(form.name, form.options);
  const Signature& signature = operation.signature;
  if (instruction.operands.size() != signature.count) decoder.unsupported("wrong operand count");
  std::array<Value, kMaxOperands> values{};
  // Sources come first, because reading a clock or a symbol may emit an operation of its own.
  for (int i = signature.count; i-- > 0;) {
    const ptx::Operand& operand = instruction.operands[static_cast<std::size_t>(i)];
    values[i] = i < signature.writes ? decoder.write(operand, signature.operand[i])
                                     : decoder.read(operand, signature.operand[i]);
  }
  decoder.emit(operation, std::span(values.data(), signature.count));
}

void apply_rule(Decoder& decoder, const ptx::Instruction& instruction) {
  static const auto rules = all_rules();
  const auto found = rules.find(instruction.opcode);
  (found == rules.end() ? default_rule : found->second)(decoder, instruction);
}

}  // namespace tessera::vgpu
