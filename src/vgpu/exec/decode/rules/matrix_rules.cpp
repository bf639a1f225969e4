// Code that the rules of the matrix instructions share, and the rule of mma.sync.
#include "vgpu/exec/decode/rules/matrix_rules.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "vgpu/exec/ops/matrix/matrix_flags.h"

namespace tessera::vgpu {
namespace {

constexpr std::array<std::pair<std::string_view, Element>, 11> kElements = {{
    {"f16", Element::kF16},
    {"bf16", Element::kBf16},
    {"tf32", Element::kTf32},
    {"e4m3", Element::kE4m3},
    {"e5m2", Element::kE5m2},
    {"s8", Element::kS8},
    {"u8", Element::kU8},
    {"s4", Element::kS4},
    {"u4", Element::kU4},
    {"b1", Element::kB1},
    {"f64", Element::kF64},
}};
constexpr std::array<std::pair<std::string_view, Accumulator>, 4> kAccumulators = {{
    {"f16", Accumulator::kF16},
    {"f32", Accumulator::kF32},
    {"s32", Accumulator::kS32},
    {"f64", Accumulator::kF64},
}};

template <class Table>
auto find_named(const Table& table, std::string_view word) {
  return std::find_if(table.begin(), table.end(),
                      [&](const auto& entry) { return entry.first == word; });
}

// "m16n8k16"
std::optional<MatrixShape> shape_named(std::string_view word) {
  MatrixShape shape;
  const char* at = word.data();
  const char* const end = at + word.size();
  for (const auto& [letter, number] :
       {std::pair{'m', &shape.m}, std::pair{'n', &shape.n}, std::pair{'k', &shape.k}}) {
    if (at == end || *at != letter) return std::nullopt;
    const auto parsed = std::from_chars(at + 1, end, *number);
    if (parsed.ec != std::errc() || *number <= 0) return std::nullopt;
    at = parsed.ptr;
  }
  return at == end ? std::optional(shape) : std::nullopt;
}

// Returns a number that is equal for element types that may be combined as A and B.
int class_of(Element element) {
  if (is_eight_bit_float(element)) return 100;
  if (is_integer(element)) return bits_of(element);
  return 200 + static_cast<int>(element);
}

bool accumulates(Accumulator d, Element element) {
  switch (d) {
    case Accumulator::kF64:
      return element == Element::kF64;
    case Accumulator::kS32:
      return is_integer(element);
    case Accumulator::kF16:
      return element == Element::kF16 || is_eight_bit_float(element);
    case Accumulator::kF32:
      return element != Element::kF64 && !is_integer(element);
  }
  return false;
}

}  // namespace

// ---- shared by all matrix rules -----------------------------------------------------------------

bool MatrixWords::has(std::string_view word) const {
  return std::find(others.begin(), others.end(), word) != others.end();
}

bool MatrixWords::take(std::string_view word) {
  const auto found = std::find(others.begin(), others.end(), word);
  if (found == others.end()) return false;
  others.erase(found);
  return true;
}

MatrixWords matrix_words(Decoder& decoder, const ptx::Instruction& instruction) {
  MatrixWords words;
  bool sync = false, aligned = false;
  for (const std::string& modifier : instruction.modifiers) {
    const auto shape = shape_named(modifier);
    if (shape) {
      words.shape = *shape;
    } else if (modifier == "sync") {
      sync = true;
    } else if (modifier == "aligned") {
      aligned = true;
    } else if (find_named(kElements, modifier) != kElements.end() ||
               find_named(kAccumulators, modifier) != kAccumulators.end()) {
      words.types.push_back(modifier);
    } else {
      words.others.push_back(modifier);
    }
  }
  if (!sync || !aligned) decoder.unsupported("a matrix instruction must be .sync.aligned");
  return words;
}

void refuse_others(Decoder& decoder, const MatrixWords& words) {
  if (words.others.empty()) return;
  decoder.unsupported("." + std::string(words.others.front()) +
                      " is not implemented for this instruction");
}

Element element_named(Decoder& decoder, std::string_view word) {
  const auto found = find_named(kElements, word);
  if (found == kElements.end()) decoder.unsupported("no matrix has elements ." + std::string(word));
  return found->second;
}

Accumulator accumulator_named(Decoder& decoder, std::string_view word) {
  const auto found = find_named(kAccumulators, word);
  if (found == kAccumulators.end()) {
    decoder.unsupported("no matrix product is accumulated in ." + std::string(word));
  }
  return found->second;
}

Scalar scalar_of(Accumulator accumulator) {
  if (accumulator == Accumulator::kF64) return Scalar::kF64;
  return accumulator == Accumulator::kF32 ? Scalar::kF32 : Scalar::k32;
}

void set_types(Decoder& decoder, MatrixForm& form, std::string_view d, std::string_view a,
               std::string_view b, std::string_view c) {
  form.a = element_named(decoder, a);
  form.b = element_named(decoder, b);
  form.d = accumulator_named(decoder, d);
  const Accumulator c_type = accumulator_named(decoder, c);
  if (!accumulates(c_type, form.a)) decoder.unsupported("C cannot be added to such products");
  if (c_type != form.d) form.options |= kOtherC;
  if (class_of(form.a) != class_of(form.b)) decoder.unsupported("A and B do not go together");
  if (!accumulates(form.d, form.a)) decoder.unsupported("D cannot sum products of this type");
  // Sums in FP32 are calibrated on an H200: docs/tensor-arithmetic.md.
  if (form.d == Accumulator::kF16 || form.options & kOtherC) decoder.mark_approximate();
}

std::string_view multiplier_of(const MatrixForm& form) {
  if (form.a == Element::kF64) return "mma.doubles";
  return form.a == Element::kB1 ? "mma.bits" : "mma.numbers";
}

std::size_t register_count(const ptx::Operand& operand) {
  return operand.kind == ptx::OperandKind::kVector ? operand.elements.size() : 1;
}

const ptx::Operand& register_at(const ptx::Operand& operand, std::size_t i) {
  return operand.kind == ptx::OperandKind::kVector ? operand.elements.at(i) : operand;
}

void append_reads(Decoder& decoder, const ptx::Operand& operand, Scalar scalar, std::size_t count,
                  std::size_t total, std::vector<Value>& to) {
  if (register_count(operand) != total) {
    decoder.unsupported("an operand has " + std::to_string(register_count(operand)) +
                        " registers, not " + std::to_string(total));
  }
  for (std::size_t i = 0; i < count; ++i) {
    to.push_back(decoder.read(register_at(operand, i), scalar));
  }
}

void append_writes(Decoder& decoder, const ptx::Operand& operand, Scalar scalar, std::size_t count,
                   std::vector<Value>& to) {
  if (register_count(operand) != count) {
    decoder.unsupported("the destination has " + std::to_string(register_count(operand)) +
                        " registers, not " + std::to_string(count));
  }
  for (std::size_t i = 0; i < count; ++i) {
    to.push_back(decoder.write(register_at(operand, i), scalar));
  }
}

DraftOp& emit_for_warp(Decoder& decoder, std::string_view operation, std::span<const Value> values,
                       std::vector<Value> list, std::size_t writes) {
  decoder.control(ControlKind::kCollective, values);
  DraftOp& op = decoder.control_op();
  op.op.run = decoder.operation(operation).run;
  op.list = std::move(list);
  op.list_writes = static_cast<std::uint32_t>(writes);
  return op;
}

Window take_window(MatrixWords& words) {
  if (words.take("global")) return Window::kGlobal;
  return words.take("shared") || words.take("shared::cta") ? Window::kShared : Window::kGeneric;
}

// ---- mma ----------------------------------------------------------------------------------------

namespace {

// mma.m8n8k4 of FP16, the shape of Volta, with any layouts. The layout of A is named first.
void decode_quads(Decoder& decoder, const ptx::Instruction& instruction, MatrixForm form,
                  const MatrixWords& words) {
  decoder.mark_approximate();
  const auto& layouts = words.others;
  const auto is_layout = [](std::string_view word) { return word == "row" || word == "col"; };
  if (layouts.size() != 2 || !std::all_of(layouts.begin(), layouts.end(), is_layout)) {
    decoder.unsupported("A and B each need a layout, .row or .col, and nothing else");
  }
  if (form.d == Accumulator::kF16 && form.options & kOtherC) {
    decoder.unsupported("D must be .f32 where C is");
  }
  const auto count = [](Accumulator type) { return type == Accumulator::kF32 ? 8u : 4u; };
  const auto& operands = instruction.operands;
  const Accumulator c = type_of_c(form);
  std::vector<Value> list;
  append_writes(decoder, operands[0], scalar_of(form.d), count(form.d), list);
  append_reads(decoder, operands[1], Scalar::k32, 2, 2, list);
  append_reads(decoder, operands[2], Scalar::k32, 2, 2, list);
  append_reads(decoder, operands[3], scalar_of(c), count(c), count(c), list);
  DraftOp& op = emit_for_warp(decoder, "mma.quads", {}, std::move(list), count(form.d));
  op.op.immediate = packed(form);
  op.op.flags = (layouts[0] == "col" ? kAByColumns : 0) | (layouts[1] == "row" ? kBByRows : 0);
}

// Takes .satfinite of integers, .rn of doubles, and .and or .xor with .popc of bits.
void take_options(Decoder& decoder, MatrixForm& form, MatrixWords& words) {
  if (is_integer(form.a) && words.take("satfinite")) form.options |= kSaturate;
  if (form.a == Element::kF64) words.take("rn");
  if (form.a != Element::kB1) return;
  if (words.take("and")) {
    form.options |= kAndPopc;
  } else if (!words.take("xor")) {
    decoder.unsupported("products of bits are .xor or .and");
  }
  if (!words.take("popc")) decoder.unsupported("products of bits are counted: .popc");
}

}  // namespace

void decode_mma(Decoder& decoder, const ptx::Instruction& instruction) {
  MatrixWords words = matrix_words(decoder, instruction);
  const auto& operands = instruction.operands;
  if (words.types.size() != 4 || operands.size() != 4) decoder.unsupported();
  MatrixForm form;
  set_types(decoder, form, words.types[0], words.types[1], words.types[2], words.types[3]);
  if (words.shape.is(8, 8, 4) && form.a == Element::kF16) {
    return decode_quads(decoder, instruction, form, words);
  }
  if (form.options & kOtherC) decoder.unsupported("C and D must be of one type here");
  if (!words.take("row") || !words.take("col")) decoder.unsupported("A must be .row and B .col");
  take_options(decoder, form, words);
  refuse_others(decoder, words);
  const int per_group = 4 * elements_in(form.a), groups = words.shape.k / per_group;
  const bool small = form.a == Element::kF64 || is_integer(form.a);  // has 8 rows too
  const bool legal =
      words.shape.n == 8 && words.shape.k % per_group == 0 &&
      (words.shape.m == 16 ? groups == 1 || groups == 2 || (groups == 4 && form.a == Element::kF64)
                           : words.shape.m == 8 && small && groups == 1);
  if (!legal) decoder.unsupported("mma has no such shape for these types");
  form.m = static_cast<std::uint8_t>(words.shape.m);
  form.k_groups = static_cast<std::uint8_t>(groups);
  // HW: on an H200, one subnormal sum of m16n8k4 was one bit lower.
  if (form.a == Element::kTf32 && groups == 1) decoder.mark_approximate();
  std::vector<Value> list;
  const std::size_t d = std::size_t(registers_of_d(form)), a = std::size_t(registers_of_a(form)),
                    b = std::size_t(registers_of_b(form));
  append_writes(decoder, operands[0], scalar_of(form.d), d, list);
  append_reads(decoder, operands[1], scalar_of(form.a), a, a, list);
  append_reads(decoder, operands[2], scalar_of(form.b), b, b, list);
  append_reads(decoder, operands[3], scalar_of(form.d), d, d, list);
  DraftOp& op = emit_for_warp(decoder, multiplier_of(form), {}, std::move(list), d);
  op.op.immediate = packed(form);
}

namespace {
constexpr std::array kRules = {
    RuleEntry{"mma", decode_mma},           RuleEntry{"wmma", decode_wmma},
    RuleEntry{"wgmma", decode_wgmma},       RuleEntry{"ldmatrix", decode_ldmatrix},
    RuleEntry{"stmatrix", decode_stmatrix}, RuleEntry{"movmatrix", decode_movmatrix},
};
}  // namespace

std::span<const RuleEntry> matrix_rules() { return kRules; }

}  // namespace tessera::vgpu
