// Rules of add.cc, addc, sub.cc, subc, mad.cc and madc: arithmetic with a carry in the condition
// code. The condition code is one predicate per function. A mad is a product and then an addition.
#include <array>

#include "vgpu/exec/decode/decoder.h"

namespace tessera::vgpu {
namespace {

struct CarryForm {
  bool subtracts = false, is_mad = false;
  bool reads = false, writes = false;  // the condition code
  std::string product;                 // "mul.lo.u32" of a mad
  Scalar scalar = Scalar::k32;
};

CarryForm carry_form(Decoder& decoder, const ptx::Instruction& instruction) {
  const std::string& opcode = instruction.opcode;
  CarryForm form;
  form.subtracts = opcode.starts_with("sub");
  form.is_mad = opcode.starts_with("mad");
  form.reads = opcode.ends_with("c");
  form.writes = has_modifier(instruction, "cc");
  const std::string& type = instruction.modifiers.back();
  form.scalar = register_scalar(type_named(type));
  if (form.scalar != Scalar::k32 && form.scalar != Scalar::k64) decoder.unsupported();
  form.product = (has_modifier(instruction, "hi") ? "mul.hi." : "mul.lo.") + type;
  return form;
}

void decode_carry(Decoder& decoder, const ptx::Instruction& instruction) {
  if (!instruction.opcode.ends_with("c") && !has_modifier(instruction, "cc")) {
    return default_rule(decoder, instruction);
  }
  const CarryForm form = carry_form(decoder, instruction);
  if (instruction.operands.size() != (form.is_mad ? 4u : 3u)) {
    decoder.unsupported("wrong operand count");
  }
  Value a = decoder.read(instruction.operands[1], form.scalar);
  Value b = decoder.read(instruction.operands[2], form.scalar);
  if (form.is_mad) {
    const Value product = decoder.temporary(form.scalar);
    decoder.emit(form.product, {product, a, b});
    a = product;
    b = decoder.read(instruction.operands[3], form.scalar);
  }
  const Value flag = decoder.condition_code();
  const Value in = form.reads ? flag : decoder.constant(Scalar::kPredicate, 0);
  const std::string name = form.subtracts ? "carry.sub" : "carry.add";
  const std::string type = form.scalar == Scalar::k32 ? ".b32" : ".b64";
  // The carry is computed first, because the result may overwrite an operand.
  const Value out = decoder.temporary(Scalar::kPredicate);
  if (form.writes) decoder.emit(name + ".out" + type, {out, a, b, in});
  decoder.emit(name + type, {decoder.write(instruction.operands[0], form.scalar), a, b, in});
  if (form.writes) decoder.emit("mov.pred", {flag, out});
}

constexpr std::array kRules = {
    RuleEntry{"add", decode_carry},  RuleEntry{"sub", decode_carry},
    RuleEntry{"mad", decode_carry},  RuleEntry{"addc", decode_carry},
    RuleEntry{"subc", decode_carry}, RuleEntry{"madc", decode_carry},
};

}  // namespace

std::span<const RuleEntry> carry_rules() { return kRules; }

}  // namespace tessera::vgpu
