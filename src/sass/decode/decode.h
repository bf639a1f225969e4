// The table of instructions: one row per opcode, written like the text that a disassembler prints.
// "FFMA{.rounding} {d}, {a:-|}, {b:-|}, {c:-|}" names the fields in braces; decoding prints them in
// order and notes the registers that they name. The text before the first brace is the opcode's
// name; "{'.LUT}" prints .LUT. Internal to src/sass.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sass/decode/operation.h"

namespace tessera::sass {

// The guard of an instruction: a predicate of the thread or of the warp.
enum class Guard { kThread, kWarp };

struct Row {
  // Bits 0-8 when `forms` says where the second and third operands may come from, by the values of
  // bits 9-11: '1' registers, '2' and '4' an immediate, '3' and '5' a constant, '6' and '7' a
  // uniform register (these have bit 91 set). Otherwise the whole key of one instruction.
  int code;
  std::string_view forms;
  Timing timing;
  std::string_view pattern;
  Guard guard = Guard::kThread;
};

constexpr int u(int code) { return code | 0x1000; }  // bit 91 in a key

std::span<const Row> float_rows();
std::span<const Row> integer_rows();
std::span<const Row> memory_rows();
std::span<const Row> async_rows();
std::span<const Row> tensor_rows();
std::span<const Row> uniform_rows();
std::span<const Row> control_rows();

// The opcode's name, "IMAD.WIDE", and whether a width belongs to it.
std::string_view row_name(const Row& row);
bool row_has_width(const Row& row);
const Row* find_row(int key);  // nullptr if there is none
// Every key that has a row, in increasing order.
std::span<const int> all_keys();

// Which fields a word reads, for the assembler, which has only some of them yet: it notes the first
// that is not given, and how much was printed before.
struct FieldReads {
  Instruction given;  // a 1 for each bit that is
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
// Prints the text between two braces, without them; "name" or "name:argument". Throws
// std::logic_error on a word that it does not know: a mistake in a row.
void print_piece(Decoding& decoding, std::string_view piece);
// The same for words that begin with a dot. False if there is no such word.
bool print_modifier(Decoding& decoding, std::string_view word);

}  // namespace tessera::sass
