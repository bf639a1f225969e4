// Rules of atom and red. Only observers use order and scope, because each access is visible to all
// threads at once. Cache hints have no effect.
#include <algorithm>
#include <array>

#include "vgpu/exec/decode/async_operands.h"
#include "vgpu/exec/decode/decoder.h"
#include "vgpu/exec/decode/ordering.h"
#include "vgpu/program/flags.h"

namespace tessera::vgpu {
namespace {

constexpr std::array<std::string_view, 10> kIgnored = {
    "relaxed", "acquire", "release", "acq_rel", "cta", "gpu", "sys", "cluster", "noftz", "global"};

struct AtomicForm {
  std::string name = "atom";
  Window window = Window::kGeneric;
  std::uint32_t flags = 0;
};

AtomicForm atomic_form(const ptx::Instruction& instruction) {
  AtomicForm form;
  for (const std::string& modifier : instruction.modifiers) {
    if (modifier == "global") form.window = Window::kGlobal;
    if (modifier == "shared" || modifier == "shared::cta" || modifier == "shared::cluster") {
      form.window = Window::kShared;
      if (modifier == "shared::cluster") form.flags = kSharedCluster;
    } else if (std::find(kIgnored.begin(), kIgnored.end(), modifier) == kIgnored.end()) {
      form.name += '.' + modifier;
    }
  }
  return form;
}

void decode_atomic(Decoder& decoder, const ptx::Instruction& instruction) {
  if (has_modifier(instruction, "async")) return decode_send(decoder, instruction);
  const bool returns = instruction.opcode == "atom";
  const AtomicForm form = atomic_form(instruction);
  const Operation& operation = decoder.operation(form.name);
  const Signature& signature = operation.signature;
  const auto& operands = instruction.operands;
  const std::size_t first = returns ? 1 : 0;  // the address operand
  if (operands.size() != signature.count - 1 + first) decoder.unsupported("wrong operand count");
  std::array<Value, kMaxOperands> values{};
  std::int64_t immediate;
  bool wide;
  values[1] = decoder.address(operands[first], form.window, immediate, wide);
  for (int i = 2; i < signature.count; ++i) {
    values[i] = decoder.read(operands[first + i - 1], signature.operand[i]);
  }
  values[0] = returns ? decoder.write(operands[0], signature.operand[0])
                      : decoder.temporary(signature.operand[0]);
  DraftOp& op = decoder.emit(operation, std::span(values.data(), signature.count));
  op.op.immediate = immediate;
  op.op.flags = static_cast<std::uint32_t>(form.window) | (wide ? kAddress64 : 0) | form.flags |
                ordering_flags(instruction, MemoryOrder::kRelaxed);
}

constexpr std::array kRules = {RuleEntry{"atom", decode_atomic}, RuleEntry{"red", decode_atomic}};

}  // namespace

std::span<const RuleEntry> atomic_rules() { return kRules; }

}  // namespace tessera::vgpu
