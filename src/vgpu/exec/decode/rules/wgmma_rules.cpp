// Rules of wgmma: products of a warpgroup, in which each warp computes sixteen of the 64 rows.
#include <algorithm>
#include <array>

#include "vgpu/exec/decode/rules/matrix_rules.h"
#include "vgpu/exec/ops/matrix/wgmma_flags.h"

namespace tessera::vgpu {
namespace {

// ---- mma_async ----------------------------------------------------------------------------------

// The operands after D, A and B: scale-d, imm-scale-a and -b, imm-trans-a and -b.
struct Scales {
  std::uint32_t flags = 0;
  bool negate = false;
  Value accumulate = kNoValue;  // kNoValue: as the flags say
};

std::int64_t literal(Decoder& decoder, const ptx::Instruction& instruction, std::size_t i) {
  const ptx::Operand& operand = instruction.operands.at(i);
  if (operand.kind != ptx::OperandKind::kInteger) {
    decoder.unsupported("operand " + std::to_string(i) + " must be a number");
  }
  return operand.integer;
}

bool negates(Decoder& decoder, const ptx::Instruction& instruction, std::size_t i) {
  const std::int64_t scale = literal(decoder, instruction, i);
  if (scale != 1 && scale != -1) decoder.unsupported("a scale must be 1 or -1");
  return scale < 0;
}

Scales scales_of(Decoder& decoder, const ptx::Instruction& instruction, const MatrixForm& form) {
  const auto& operands = instruction.operands;
  const bool a_in_registers = operands[1].kind == ptx::OperandKind::kVector;
  const bool has_scales = !is_integer(form.a), has_majors = bits_of(form.a) == 16;
  const std::size_t expected =
      4 + (has_scales ? 2u : 0u) + (has_majors ? (a_in_registers ? 1u : 2u) : 0u);
  if (operands.size() != expected) decoder.unsupported("wrong operand count");
  Scales scales;
  if (a_in_registers) scales.flags |= kAInRegisters;
  const ptx::Operand& accumulate = operands[3];
  if (accumulate.kind == ptx::OperandKind::kInteger) {
    scales.flags |= accumulate.integer != 0 ? kAlwaysAccumulates : kNeverAccumulates;
  } else {
    scales.accumulate = decoder.read(accumulate, Scalar::kPredicate);
    if (accumulate.negate) scales.flags |= kAccumulateNegated;
  }
  if (has_scales) {
    scales.negate = negates(decoder, instruction, 4) != negates(decoder, instruction, 5);
  }
  if (has_majors) {
    std::size_t at = 6;
    if (!a_in_registers && literal(decoder, instruction, at++) != 0) scales.flags |= kAMnMajor;
    if (literal(decoder, instruction, at) != 0) scales.flags |= kBMnMajor;
  }
  return scales;
}

// Checks the shape: k must be 32 bytes; for integers, n must be 8, 16, 24 or a multiple of 16.
void check_shape(Decoder& decoder, const MatrixShape& shape, const MatrixForm& form) {
  const bool legal = shape.m == 64 && shape.n % 8 == 0 && shape.n >= 8 && shape.n <= 256 &&
                     shape.k * bits_of(form.a) == 256 &&
                     (!is_integer(form.a) || shape.n <= 24 || shape.n % 16 == 0);
  if (!legal) decoder.unsupported("wgmma has no such shape for these types");
}

MatrixForm product_form(Decoder& decoder, MatrixWords& words) {
  if (words.types.size() != 3) decoder.unsupported();
  MatrixForm form;
  set_types(decoder, form, words.types[0], words.types[1], words.types[2], words.types[0]);
  if (form.a == Element::kS4 || form.a == Element::kU4 || form.a == Element::kF64) {
    decoder.unsupported("wgmma has no products of this type");
  }
  check_shape(decoder, words.shape, form);
  form.options |= kWarpgroup;
  if (is_integer(form.a) && words.take("satfinite")) form.options |= kSaturate;
  if (form.a == Element::kB1) {
    if (!words.take("and") || !words.take("popc")) decoder.unsupported();
    form.options |= kAndPopc;
  }
  form.tiles_n = static_cast<std::uint8_t>(words.shape.n / 8);
  form.k_groups = static_cast<std::uint8_t>(words.shape.k / (4 * elements_in(form.a)));
  return form;
}

void decode_product(Decoder& decoder, const ptx::Instruction& instruction, MatrixWords& words) {
  const auto& operands = instruction.operands;
  if (operands.size() < 4) decoder.unsupported("wrong operand count");
  MatrixForm form = product_form(decoder, words);
  refuse_others(decoder, words);
  const Scales scales = scales_of(decoder, instruction, form);
  if (scales.negate) form.options |= kNegateProducts;
  const std::size_t d = std::size_t(form.tiles_n * registers_of_d(form));
  std::vector<Value> list;
  append_writes(decoder, operands[0], scalar_of(form.d), d, list);
  const bool a_in_registers = scales.flags & kAInRegisters;
  if (a_in_registers) append_reads(decoder, operands[1], Scalar::k32, 4, 4, list);
  if (!(scales.flags & kNeverAccumulates)) {
    append_reads(decoder, operands[0], scalar_of(form.d), d, d, list);
  }
  std::vector<Value> values = {decoder.read(operands[2], Scalar::k64)};
  if (!a_in_registers) values.push_back(decoder.read(operands[1], Scalar::k64));
  if (scales.accumulate != kNoValue) values.push_back(scales.accumulate);
  DraftOp& op = emit_for_warp(decoder, "wgmma.mma_async", values, std::move(list), d);
  op.op.immediate = packed(form);
  op.op.flags = scales.flags;
  decoder.control(ControlKind::kWarpgroup, values);
}

// ---- fence, commit_group, wait_group ------------------------------------------------------------

// Returns the registers of all products of the function. They must keep their places until the
// wait.
std::vector<Value> registers_in_flight(Decoder& decoder) {
  std::vector<Value> values;
  const auto append = [&](const ptx::Operand& operand) {
    for (std::size_t i = 0; i < register_count(operand); ++i) {
      const ptx::Operand& element = register_at(operand, i);
      const Scalar scalar = decoder.declared(element);
      if (scalar != Scalar::kNone) values.push_back(decoder.read(element, scalar));
    }
  };
  for (const ptx::Instruction& instruction : decoder.function().body) {
    if (instruction.opcode != "wgmma" || !has_modifier(instruction, "mma_async")) continue;
    append(instruction.operands.at(0));
    const ptx::Operand& a = instruction.operands.at(1);
    if (a.kind == ptx::OperandKind::kVector) append(a);
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

void decode_wait(Decoder& decoder, const ptx::Instruction& instruction) {
  if (instruction.operands.size() != 1) decoder.unsupported("wrong operand count");
  DraftOp& op = emit_for_warp(decoder, "wgmma.wait_group", {}, {}, 0);
  op.op.immediate = literal(decoder, instruction, 0);
  op.holds = registers_in_flight(decoder);
}

}  // namespace

void decode_wgmma(Decoder& decoder, const ptx::Instruction& instruction) {
  MatrixWords words = matrix_words(decoder, instruction);
  if (words.take("mma_async")) return decode_product(decoder, instruction, words);
  const bool is_wait = words.take("wait_group");
  const bool is_fence = !is_wait && words.take("fence");
  if (!is_wait && !is_fence && !words.take("commit_group")) decoder.unsupported();
  refuse_others(decoder, words);
  if (is_wait) return decode_wait(decoder, instruction);
  if (!instruction.operands.empty()) decoder.unsupported("wrong operand count");
  emit_for_warp(decoder, is_fence ? "wgmma.fence" : "wgmma.commit_group", {}, {}, 0);
}

}  // namespace tessera::vgpu
