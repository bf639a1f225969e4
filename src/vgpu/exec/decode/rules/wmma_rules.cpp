// Rules of wmma.load, wmma.mma and wmma.store. The shapes of wmma are made of tiles of mma. For
// m8n32 the product is transposed: columns of D are rows of the tiles.
#include <algorithm>
#include <array>

#include "vgpu/exec/decode/rules/matrix_rules.h"
#include "vgpu/program/flags.h"

namespace tessera::vgpu {
namespace {

struct Tiling {
  int m = 16;  // rows of a tile
  int tiles_m = 1, tiles_n = 1;
  bool transposed = false;
};

Tiling tiling_of(Decoder& decoder, const MatrixShape& shape) {
  if (shape.m == 16 && shape.n == 16) return {16, 1, 2, false};
  if (shape.m == 32 && shape.n == 8) return {16, 2, 1, false};
  if (shape.m == 8 && shape.n == 32) return {16, 2, 1, true};
  if (shape.m == 8 && shape.n == 8) return {8, 1, 1, false};
  decoder.unsupported("wmma has no such shape");
}

// Checks k of the shape. Some types are only legal with m8n8, and m8n8 only with these types.
void check_shape(Decoder& decoder, const MatrixShape& shape, Element element) {
  const bool square = shape.m == 8 && shape.n == 8;
  const bool legal = [&] {
    switch (element) {
      case Element::kF64:
        return square && shape.k == 4;
      case Element::kS4:
      case Element::kU4:
        return square && shape.k == 32;
      case Element::kB1:
        return square && shape.k == 128;
      case Element::kTf32:
        return shape.is(16, 16, 8);
      case Element::kE4m3:
      case Element::kE5m2:
        return false;
      default:
        return !square && shape.k == 16;
    }
  }();
  if (!legal) decoder.unsupported("wmma has no such shape for this type");
}

// ---- load and store -----------------------------------------------------------------------------

struct Transfer {
  FragmentForm form;
  int stride = 0;  // the default stride
};

Transfer factor_transfer(Decoder& decoder, const MatrixWords& words, bool is_a, bool by_rows) {
  const Element element = element_named(decoder, words.types[0]);
  check_shape(decoder, words.shape, element);
  const Tiling tiling = tiling_of(decoder, words.shape);
  Transfer transfer;
  FragmentForm& form = transfer.form;
  const bool has_rows = is_a != tiling.transposed;  // in the tiles
  form.bits = static_cast<std::uint8_t>(bits_of(element));
  form.register_bytes = element == Element::kF64 ? 8 : 4;
  form.halves = static_cast<std::uint8_t>(has_rows ? tiling.m / 8 : 1);
  form.tiles_x = static_cast<std::uint8_t>(has_rows ? tiling.tiles_m : tiling.tiles_n);
  form.k_groups = static_cast<std::uint8_t>(words.shape.k / (4 * elements_in(element)));
  form.registers = element == Element::kF16
                       ? 8
                       : static_cast<std::uint8_t>(form.tiles_x * form.halves * form.k_groups);
  const bool k_inner = is_a == by_rows;
  if (!k_inner && form.bits < 8) decoder.unsupported("A must be .row and B .col here");
  if (!k_inner) form.options |= kXInner;
  transfer.stride = k_inner ? words.shape.k : is_a ? words.shape.m : words.shape.n;
  return transfer;
}

Transfer accumulator_transfer(Decoder& decoder, const MatrixWords& words, bool by_rows) {
  const Accumulator type = accumulator_named(decoder, words.types[0]);
  const Tiling tiling = tiling_of(decoder, words.shape);
  Transfer transfer;
  FragmentForm& form = transfer.form;
  form.bits = type == Accumulator::kF64 ? 64 : type == Accumulator::kF16 ? 16 : 32;
  form.register_bytes = type == Accumulator::kF64 ? 8 : 4;
  form.halves = static_cast<std::uint8_t>(tiling.m / 8);
  form.tiles_x = static_cast<std::uint8_t>(tiling.tiles_m);
  form.tiles_y = static_cast<std::uint8_t>(tiling.tiles_n);
  const int per_half = type == Accumulator::kF16 ? 1 : 2;
  form.registers =
      static_cast<std::uint8_t>(tiling.tiles_m * tiling.tiles_n * form.halves * per_half);
  form.options = kIsAccumulator;
  if (by_rows == tiling.transposed) form.options |= kXInner;
  transfer.stride = by_rows ? words.shape.n : words.shape.m;
  return transfer;
}

void decode_transfer(Decoder& decoder, const ptx::Instruction& instruction, MatrixWords& words) {
  const bool loads = words.take("load");
  if (!loads && !words.take("store")) decoder.unsupported();
  const bool is_a = words.take("a"), is_b = words.take("b");
  if (!is_a && !is_b && !words.take(loads ? "c" : "d")) decoder.unsupported();
  const bool by_rows = words.take("row");
  if (!by_rows && !words.take("col")) decoder.unsupported("a layout is missing");
  const Window window = take_window(words);
  refuse_others(decoder, words);
  const auto& operands = instruction.operands;
  if (words.types.size() != 1 || operands.size() < 2 || operands.size() > 3) decoder.unsupported();
  const Transfer transfer = is_a || is_b ? factor_transfer(decoder, words, is_a, by_rows)
                                         : accumulator_transfer(decoder, words, by_rows);
  const Scalar scalar = transfer.form.register_bytes == 8 ? Scalar::k64 : Scalar::k32;
  const std::size_t count = transfer.form.registers;
  std::int64_t offset;
  bool wide;
  const Value base = decoder.address(operands[loads ? 1 : 0], window, offset, wide);
  const Value stride = operands.size() == 3
                           ? decoder.read(operands[2], Scalar::k32)
                           : decoder.constant(Scalar::k32, std::uint64_t(transfer.stride));
  std::vector<Value> list;
  if (loads) {
    append_writes(decoder, operands[0], scalar, count, list);
  } else {
    append_reads(decoder, operands[1], scalar, count, count, list);
  }
  const std::array values{base, stride,
                          decoder.constant(Scalar::k64, static_cast<std::uint64_t>(offset))};
  DraftOp& op = emit_for_warp(decoder, loads ? "wmma.load" : "wmma.store", values, std::move(list),
                              loads ? count : 0);
  op.op.immediate = packed(transfer.form);
  op.op.flags = static_cast<std::uint32_t>(window) | (wide ? kAddress64 : 0);
}

// ---- mma ----------------------------------------------------------------------------------------

void decode_product(Decoder& decoder, const ptx::Instruction& instruction, MatrixWords& words) {
  const auto& operands = instruction.operands;
  if (operands.size() != 4) decoder.unsupported("wrong operand count");
  // If A and B are FP16, the instruction names only two types, those of D and C.
  if (words.types.size() == 2) words.types = {words.types[0], "f16", "f16", words.types[1]};
  if (words.types.size() != 4) decoder.unsupported();
  MatrixForm form;
  set_types(decoder, form, words.types[0], words.types[1], words.types[2], words.types[3]);
  check_shape(decoder, words.shape, form.a);
  while (words.take("row") || words.take("col")) continue;
  if (is_integer(form.a) && words.take("satfinite")) form.options |= kSaturate;
  if (form.a == Element::kF64) words.take("rn");
  if (form.a == Element::kB1) {
    if (words.take("and")) form.options |= kAndPopc;
    if (!(form.options & kAndPopc) && !words.take("xor")) decoder.unsupported();
    if (!words.take("popc")) decoder.unsupported();
  }
  refuse_others(decoder, words);
  const Tiling tiling = tiling_of(decoder, words.shape);
  form.m = static_cast<std::uint8_t>(tiling.m);
  form.tiles_m = static_cast<std::uint8_t>(tiling.tiles_m);
  form.tiles_n = static_cast<std::uint8_t>(tiling.tiles_n);
  form.k_groups = static_cast<std::uint8_t>(words.shape.k / (4 * elements_in(form.a)));
  if (tiling.transposed) std::swap(form.a, form.b);
  const ptx::Operand& rows = operands[tiling.transposed ? 2 : 1];
  const ptx::Operand& columns = operands[tiling.transposed ? 1 : 2];
  const std::size_t tiles = form.tiles_m * std::size_t{form.tiles_n};
  const std::size_t a = std::size_t(form.tiles_m * registers_of_a(form)),
                    b = std::size_t(form.tiles_n * registers_of_b(form)),
                    d = tiles * std::size_t(registers_of_d(form)),
                    c = tiles * std::size_t(registers_of_c(form));
  const bool halves = form.a == Element::kF16;
  std::vector<Value> list;
  append_writes(decoder, operands[0], scalar_of(form.d), d, list);
  append_reads(decoder, rows, scalar_of(form.a), a, halves ? 8 : a, list);
  append_reads(decoder, columns, scalar_of(form.b), b, halves ? 8 : b, list);
  append_reads(decoder, operands[3], scalar_of(type_of_c(form)), c, c, list);
  DraftOp& op = emit_for_warp(decoder, multiplier_of(form), {}, std::move(list), d);
  op.op.immediate = packed(form);
}

}  // namespace

void decode_wmma(Decoder& decoder, const ptx::Instruction& instruction) {
  MatrixWords words = matrix_words(decoder, instruction);
  if (words.take("mma")) return decode_product(decoder, instruction, words);
  decode_transfer(decoder, instruction, words);
}

}  // namespace tessera::vgpu
