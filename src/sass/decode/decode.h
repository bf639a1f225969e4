// The table of instructions: one row per opcode, written like a disassembler's text. In
// "FFMA{.rounding} {d}, {a:-|}, {b:-|}, {c:-|}" the words in braces name fields. Decoding prints
// the fields in order and notes the registers that they name. The text before the first brace is
// the opcode's name; "{'.LUT}" prints .LUT. Internal to src/sass.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sass/decode/operation.h"

namespace tessera::sass {

// Whether an instruction is guarded by a predicate of the thread or of the warp (a uniform
// predicate).
enum class Guard { kThread, kWarp };

struct Row {
  // If `forms` is empty: the whole key of one instruction. Otherwise bits 0-8 of the key, and
  // `forms` lists the values that bits 9-11 may have. These values say where the second and third
  // operands come from: '1' registers, '2' and '4' an immediate, '3' and '5' a constant, '6' and
  // '7' a uniform register (with bit 91 set).
  int code;
  std::string_view forms;
  Timing timing;
  std::string_view pattern;
  Guard guard = Guard::kThread;
};

constexpr int u(int code) { return code | 0x1000; }  // sets bit 91 in a key

std::span<const Row> float_rows();
std::span<const Row> integer_rows();
std::span<const Row> memory_rows();
std::span<const Row> async_rows();
std::span<const Row> tensor_rows();
std::span<const Row> uniform_rows();
std::span<const Row> control_rows();

// row_name() returns the opcode's name, "IMAD.WIDE". row_has_width() tells whether the name is
// followed by the width of the access.
std::string_view row_name(const Row& row);
bool row_has_width(const Row& row);
const Row* find_row(int key);  // nullptr if the key has no row
// Returns every key that has a row, in increasing order.
std::span<const int> all_keys();

// Notes which of the fields without a value a word of a pattern reads first, and how much text was
// printed before. The encoder, which tries values field by field, needs this.
struct FieldReads {
  Instruction given;  // a 1 for each bit with a value
  int first = -1, count = 0;
  std::size_t printed = 0;

  void note(int field, int bits, std::size_t length) {
    constexpr auto kAll = ~std::uint64_t{0};
    if (first >= 0 || given.bits(field, bits) == kAll >> (64 - bits)) return;
    first = field;
    count = bits;
    printed = length;
  }
};

// An instruction that is being decoded into an Operation.
struct Decoding {
  const Instruction& instruction;
  std::uint64_t offset;
  int sm;
  Operation& operation;
  FieldReads* reads = nullptr;
  bool is_complete = false;   // prints what disassemblers leave out
  bool names_aliases = true;  // IMAD.MOV for an IMAD that moves

  std::uint64_t bits(int first, int count) const {
    if (reads) reads->note(first, count, operation.text.size());
    return instruction.bits(first, count);
  }
  bool bit(int index) const { return bits(index, 1) != 0; }
  int form() const { return static_cast<int>(bits(9, 3)); }
  void print(std::string_view text) { operation.text += text; }
};

void print_guard(Decoding& decoding, Guard guard);
// Prints the field that a word in braces names: "name" or "name:argument". Throws std::logic_error
// if the word is unknown, which means that a row is wrong.
void print_piece(Decoding& decoding, std::string_view piece);
// Like print_piece, for words that begin with a dot. Returns false if there is no such word.
bool print_modifier(Decoding& decoding, std::string_view word);

}  // namespace tessera::sass
