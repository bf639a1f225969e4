// Rules of mov, cvta, setp and similar instructions, whose operands or modifiers do not correspond
// one to one to those of an operation.
#include <array>

#include "vgpu/exec/decode/decoder.h"

namespace tessera::vgpu {
namespace {

std::string width_name(Scalar scalar) {
  if (scalar == Scalar::kPredicate) return "pred";
  return "b" + std::to_string(bits_of(scalar));
}

// Decodes mov.b64 d, {a, b}.
void pack(Decoder& decoder, const ptx::Operand& to, const ptx::Operand& parts, Scalar whole) {
  const auto count = parts.elements.size();
  const auto& operation =
      decoder.operation("mov.pack." + width_name(whole) + "." + std::to_string(count));
  std::array<Value, 5> values{decoder.write(to, whole)};
  for (std::size_t i = 0; i < count; ++i) {
    values[i + 1] = decoder.read(parts.elements[i], operation.signature.operand[i + 1]);
  }
  decoder.emit(operation, std::span(values.data(), count + 1));
}

// Decodes mov.b64 {a, b}, d.
void unpack(Decoder& decoder, const ptx::Operand& parts, const ptx::Operand& from, Scalar whole) {
  const auto count = parts.elements.size();
  const Value source = decoder.read(from, whole);
  for (std::size_t i = 0; i < count; ++i) {
    if (parts.elements[i].kind == ptx::OperandKind::kSink) continue;
    const auto& operation = decoder.operation("mov.part." + width_name(whole) + "." +
                                              std::to_string(count) + "." + std::to_string(i));
    decoder.emit(
        operation,
        std::array{decoder.write(parts.elements[i], operation.signature.operand[0]), source});
  }
}

void decode_mov(Decoder& decoder, const ptx::Instruction& instruction) {
  const ptx::Type type = type_named(instruction.modifiers.back());
  Scalar scalar = register_scalar(type);
  if (scalar == Scalar::kNone || instruction.operands.size() != 2) decoder.unsupported();
  const auto& to = instruction.operands[0];
  const auto& from = instruction.operands[1];
  if (from.kind == ptx::OperandKind::kVector) return pack(decoder, to, from, scalar);
  if (to.kind == ptx::OperandKind::kVector) return unpack(decoder, to, from, scalar);
  const std::string name = "mov." + width_name(scalar);
  if (type.kind == ptx::TypeKind::kFloat && type.bits == 32) scalar = Scalar::kF32;
  if (type.kind == ptx::TypeKind::kFloat && type.bits == 64) scalar = Scalar::kF64;
  const Value source = decoder.read(from, scalar);
  decoder.emit(name, {decoder.write(to, scalar), source});
}

std::uint64_t base_named(Decoder& decoder, const ptx::Instruction& instruction) {
  for (const auto& modifier : instruction.modifiers) {
    if (modifier == "shared" || modifier == "shared::cta" || modifier == "shared::cluster") {
      return kSharedWindow;
    }
    if (modifier == "local") return kLocalWindow;
    if (modifier == "param" || modifier == "param::entry" || modifier == "param::func") {
      return kParamWindow;
    }
    if (modifier == "global" || modifier == "const") return 0;
  }
  decoder.unsupported();
}

// cvta.space converts an address in a window to a generic address; cvta.to.space converts back.
void decode_cvta(Decoder& decoder, const ptx::Instruction& instruction) {
  const Scalar scalar = register_scalar(type_named(instruction.modifiers.back()));
  if (scalar != Scalar::k64) decoder.unsupported("addresses have 64 bits");
  const std::uint64_t base = base_named(decoder, instruction);
  const Value to = decoder.write(instruction.operands[0], scalar);
  const Value from = decoder.read(instruction.operands[1], scalar);
  if (base == 0) {
    decoder.emit("mov.b64", {to, from});
  } else {
    const bool back = instruction.modifiers.front() == "to";
    decoder.emit(back ? "sub.u64" : "add.u64", {to, from, decoder.constant(scalar, base)});
  }
}

// isspacep.shared p, a: whether the distance of a from the start of the window is less than its
// size.
void decode_isspacep(Decoder& decoder, const ptx::Instruction& instruction) {
  const std::uint64_t base = base_named(decoder, instruction);
  const Value to = decoder.write(instruction.operands[0], Scalar::kPredicate);
  const Value from = decoder.read(instruction.operands[1], Scalar::k64);
  if (base == 0) {
    // All generic addresses above the windows are global.
    decoder.emit("setp.hs.u64", {to, from, decoder.constant(Scalar::k64, kFunctionBase)});
    return;
  }
  // The window holds the shared memory of the whole cluster; that of the CTA is a part of it.
  const bool own = base == kSharedWindow && !has_modifier(instruction, "shared::cluster");
  const Value begin =
      own ? decoder.shared_address(Scalar::k64, base) : decoder.constant(Scalar::k64, base);
  const std::uint64_t bytes = own ? std::uint64_t{1} << kRankShift : kWindowBytes;
  const Value distance = decoder.temporary(Scalar::k64);
  decoder.emit("sub.u64", {distance, from, begin});
  decoder.emit("setp.lo.u64", {to, distance, decoder.constant(Scalar::k64, bytes)});
}

// setp.cmp[.bool][.ftz].type p[|q], a, b[, c]: compares a and b, and combines the result with c.
struct Comparison {
  std::string compare, boolean, type;
  Options options = kDefault;
};

Comparison comparison_of(const ptx::Instruction& instruction, std::size_t first) {
  Comparison result;
  for (std::size_t i = first; i < instruction.modifiers.size(); ++i) {
    const std::string& modifier = instruction.modifiers[i];
    if (modifier == "ftz") {
      result.options |= kFtz;
    } else if (modifier == "and" || modifier == "or" || modifier == "xor") {
      result.boolean = modifier;
    } else if (result.compare.empty()) {
      result.compare = modifier;
    } else {
      result.type = modifier;
    }
  }
  return result;
}

Value predicate(Decoder& decoder, const ptx::Operand& operand) {
  const Value value = decoder.read(operand, Scalar::kPredicate);
  if (!operand.negate) return value;
  const Value inverted = decoder.temporary(Scalar::kPredicate);
  decoder.emit("not.pred", {inverted, value});
  return inverted;
}

void combine(Decoder& decoder, const Comparison& comparison, Value to, Value compared, Value c) {
  if (c == kNoValue) {
    decoder.emit("mov.pred", {to, compared});
  } else {
    decoder.emit(comparison.boolean + ".pred", {to, compared, c});
  }
}

Value compare(Decoder& decoder, const ptx::Instruction& instruction, const Comparison& comparison,
              Value to) {
  const auto& operation =
      decoder.operation("setp." + comparison.compare + "." + comparison.type, comparison.options);
  const Scalar scalar = operation.signature.operand[1];
  const Value a = decoder.read(instruction.operands[1], scalar);
  const Value b = decoder.read(instruction.operands[2], scalar);
  decoder.emit(operation, std::array{to, a, b});
  return to;
}

void decode_setp(Decoder& decoder, const ptx::Instruction& instruction) {
  const Comparison comparison = comparison_of(instruction, 0);
  const ptx::Operand& to = instruction.operands[0];
  const Value p = decoder.write(to, Scalar::kPredicate);
  if (comparison.boolean.empty() && to.second.empty()) {
    compare(decoder, instruction, comparison, p);
    return;
  }
  const Value c =
      comparison.boolean.empty() ? kNoValue : predicate(decoder, instruction.operands.at(3));
  const Value hit = decoder.temporary(Scalar::kPredicate);
  const Value miss = decoder.temporary(Scalar::kPredicate);
  const Value first = decoder.temporary(Scalar::kPredicate);
  compare(decoder, instruction, comparison, hit);
  decoder.emit("not.pred", {miss, hit});
  combine(decoder, comparison, first, hit, c);
  if (!to.second.empty()) {
    ptx::Operand second = to;
    second.name = to.second;
    combine(decoder, comparison, decoder.write(second, Scalar::kPredicate), miss, c);
  }
  decoder.emit("mov.pred", {p, first});
}

bool is_half(std::string_view type) { return type.starts_with("f16") || type.starts_with("bf16"); }

// set.cmp[.bool][.ftz].dtype.stype d, a, b[, c]. If d is a half, there is one operation for all of
// it.
void decode_set(Decoder& decoder, const ptx::Instruction& instruction) {
  if (is_half(instruction.modifiers.at(instruction.modifiers.size() - 2))) {
    return default_rule(decoder, instruction);
  }
  ptx::Instruction compared = instruction;
  const std::string type = compared.modifiers.at(compared.modifiers.size() - 2);
  compared.modifiers.erase(compared.modifiers.end() - 2);
  const Comparison comparison = comparison_of(compared, 0);
  const Value hit = decoder.temporary(Scalar::kPredicate);
  compare(decoder, instruction, comparison, hit);
  Value result = hit;
  if (!comparison.boolean.empty()) {
    result = decoder.temporary(Scalar::kPredicate);
    combine(decoder, comparison, result, hit, predicate(decoder, instruction.operands.at(3)));
  }
  const auto& operation = decoder.operation(type == "f32" ? "set.f32" : "set.b32");
  decoder.emit(operation, std::array{decoder.write(instruction.operands[0], Scalar::k32), result});
}

// and.pred, or.pred, xor.pred and not.pred may have negated sources (!p).
void decode_logic(Decoder& decoder, const ptx::Instruction& instruction) {
  if (instruction.modifiers.back() != "pred") return default_rule(decoder, instruction);
  const Value to = decoder.write(instruction.operands[0], Scalar::kPredicate);
  const Value a = predicate(decoder, instruction.operands.at(1));
  const std::string name = instruction.opcode + ".pred";
  if (instruction.operands.size() == 2) return void(decoder.emit(name, {to, a}));
  decoder.emit(name, {to, a, predicate(decoder, instruction.operands.at(2))});
}

constexpr std::array kRules = {
    RuleEntry{"mov", decode_mov},           RuleEntry{"cvta", decode_cvta},
    RuleEntry{"isspacep", decode_isspacep}, RuleEntry{"setp", decode_setp},
    RuleEntry{"set", decode_set},           RuleEntry{"and", decode_logic},
    RuleEntry{"or", decode_logic},          RuleEntry{"xor", decode_logic},
    RuleEntry{"not", decode_logic},
};

}  // namespace

std::span<const RuleEntry> data_rules() { return kRules; }

}  // namespace tessera::vgpu
