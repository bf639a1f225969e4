// The functions that print the words in the patterns of decode.h. Internal to src/sass.
#pragma once

#include <string>
#include <string_view>

#include "sass/decode/decode.h"

namespace tessera::sass {

// What follows a word's colon, in any order:
//   the operand's number of registers: digits, or a letter if a field decides: 's' size of the
//     access, 'n' and 'N' type of an atomic number and float, 'x' number of matrices, 't' and 'F'
//     types that a conversion makes and takes, 'k' width of a clock, 'U' 64 bits by bit 73, 'D' and
//     'E' dimensions of a load and a store by tensor map, 'W' ways of a bulk copy
//   how the operand may be changed: '-' negated, '|' absolute value, '^' complemented, '~' negated
//     or, in extended sums, complemented, 'w' one of its halves used for both
//   the kind of an immediate: 'i' signed, 'f' float, 'd' upper half of a double, 'h' two halves;
//     without a letter: plain bits
struct Argument {
  int count = 1;
  bool negates = false, absolute = false, complements = false, extends = false, halves = false;
  char kind = 'u';
};
Argument parse_argument(const Decoding& decoding, std::string_view text);

std::string hex(std::uint64_t value);
std::string signed_hex(std::int64_t value);
std::int64_t signed_bits(const Decoding& decoding, int first, int count);

std::string register_name(RegisterFile file, int number);
int register_at(const Decoding& decoding, RegisterFile file, int place);
std::string predicate_name(RegisterFile file, int number);

// Return the text of a register or predicate, and note in the operation that it is read or written.
std::string read_register(Decoding& decoding, RegisterFile file, int place, int count, int operand);
std::string written_register(Decoding& decoding, RegisterFile file, int place, int count);
std::string read_predicate(Decoding& decoding, RegisterFile file, int place, int negate);
std::string written_predicate(Decoding& decoding, RegisterFile file, int place);

// A function that prints one word of a pattern.
using Printer = void (*)(Decoding&);

// Prints a word for an address or a constant. Returns false for any other word.
bool print_memory_piece(Decoding& decoding, std::string_view word);
// Prints a word of a matrix product. Returns false for any other word.
bool print_tensor_piece(Decoding& decoding, std::string_view word);
// Prints a word that only one or two opcodes use. Returns false for any other word.
bool print_special_piece(Decoding& decoding, std::string_view word);

}  // namespace tessera::sass
