// Code that the rules of matrix instructions share. Each family has a file; all are in one list.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "vgpu/exec/decode/decoder.h"
#include "vgpu/program/matrix_form.h"

namespace tessera::vgpu {

void decode_mma(Decoder& decoder, const ptx::Instruction& instruction);
void decode_wmma(Decoder& decoder, const ptx::Instruction& instruction);
void decode_wgmma(Decoder& decoder, const ptx::Instruction& instruction);
void decode_ldmatrix(Decoder& decoder, const ptx::Instruction& instruction);
void decode_stmatrix(Decoder& decoder, const ptx::Instruction& instruction);
void decode_movmatrix(Decoder& decoder, const ptx::Instruction& instruction);

struct MatrixShape {
  int m = 0, n = 0, k = 0;
  bool is(int of_m, int of_n, int of_k) const { return m == of_m && n == of_n && k == of_k; }
};

// The modifiers of a matrix instruction: the shape, the element types, and the others.
struct MatrixWords {
  MatrixShape shape;
  std::vector<std::string_view> types;   // in order
  std::vector<std::string_view> others;  // in order; "sync" and "aligned" left out
  bool has(std::string_view word) const;
  // Removes the word from `others`. Returns whether it was there.
  bool take(std::string_view word);
};
// Refuses the instruction if it is not .sync.aligned.
MatrixWords matrix_words(Decoder& decoder, const ptx::Instruction& instruction);
// Refuses the instruction if it has modifiers that its rule has not taken.
void refuse_others(Decoder& decoder, const MatrixWords& words);

Element element_named(Decoder& decoder, std::string_view word);
Accumulator accumulator_named(Decoder& decoder, std::string_view word);
Scalar scalar_of(Accumulator accumulator);
inline Scalar scalar_of(Element element) {
  return element == Element::kF64 ? Scalar::kF64 : Scalar::k32;
}

// Sets the types of `form`, or refuses their combination.
void set_types(Decoder& decoder, MatrixForm& form, std::string_view d, std::string_view a,
               std::string_view b, std::string_view c);
// Returns the name of the operation: "mma.numbers", "mma.doubles" or "mma.bits".
std::string_view multiplier_of(const MatrixForm& form);

// Returns the number of registers of a fragment, {a, b} or only a.
std::size_t register_count(const ptx::Operand& operand);
const ptx::Operand& register_at(const ptx::Operand& operand, std::size_t i);
// Appends the first `count` registers of the fragment, which must have `total`.
void append_reads(Decoder& decoder, const ptx::Operand& operand, Scalar scalar, std::size_t count,
                  std::size_t total, std::vector<Value>& to);
void append_writes(Decoder& decoder, const ptx::Operand& operand, Scalar scalar, std::size_t count,
                   std::vector<Value>& to);

// Emits a control instruction that needs the whole warp: the operation of this name, with a list of
// operands of which the first `writes` are written.
DraftOp& emit_for_warp(Decoder& decoder, std::string_view operation, std::span<const Value> values,
                       std::vector<Value> list, std::size_t writes);

// Removes a state space from the words: "global", "shared" (or "shared::cta"), or none (generic).
Window take_window(MatrixWords& words);

}  // namespace tessera::vgpu
