#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <unordered_map>

#include "sass/decode/decode.h"
#include "sass/decode/decode_operands.h"

namespace tessera::sass {

std::string hex(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string signed_hex(std::int64_t value) {
  return value < 0 ? "-" + hex(static_cast<std::uint64_t>(-value)) : hex(value);
}

std::int64_t signed_bits(const Decoding& decoding, int first, int count) {
  return static_cast<std::int64_t>(decoding.bits(first, count) << (64 - count)) >> (64 - count);
}

namespace {

// Returns a number as decimal text, with as many digits as a double can have; NaN by name.
std::string decimal(double value) {
  const char* const sign = std::signbit(value) ? "-" : "+";
  if (std::isnan(value)) return std::string(sign) + "QNAN";
  if (std::isinf(value)) return std::string(sign) + "INF";
  if (value == 0 && std::signbit(value)) return "-0.0";
  constexpr double kPlain = 1e15;  // larger numbers print with an exponent
  char text[40];
  std::snprintf(text, sizeof text, std::abs(value) < kPlain ? "%.20g" : "%.20e", value);
  return text;
}

double half(std::uint32_t bits) {
  const int exponent = bits >> 10 & 0x1F;
  const double fraction = bits & 0x3FF;
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == 0x1F) return fraction == 0 ? sign * INFINITY : std::copysign(NAN, sign);
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(fraction + 1024, exponent - 25);
}

std::string immediate(std::uint32_t bits, char kind) {
  switch (kind) {
    case 'f':
      return decimal(std::bit_cast<float>(bits));
    case 'd':
      return decimal(std::bit_cast<double>(std::uint64_t{bits} << 32));
    case 'h':
      return decimal(half(bits >> 16)) + ", " + decimal(half(bits & 0xFFFF));
    case 'i':
      return signed_hex(static_cast<std::int32_t>(bits));
    default:
      return hex(bits);
  }
}

// Where the operand in the 32-bit field in the middle of the instruction (bit 32) comes from. Only
// this operand need not be a register of the thread.
enum class Source { kRegister, kImmediate, kConstant, kUniform };

struct Slot {
  int place;  // first bit of the register's number
  int negate, absolute;
  Source source = Source::kRegister;
};

constexpr Slot kSlotA = {24, 72, 73}, kSlot32 = {32, 63, 62}, kSlot64 = {64, 75, 74};

Source wide_source(const Decoding& decoding) {
  switch (decoding.form()) {
    case 2:
    case 4:
      return Source::kImmediate;
    case 3:
    case 5:
      return Source::kConstant;
    case 6:
    case 7:
      return Source::kUniform;
    default:
      return Source::kRegister;
  }
}

// Returns the position of logical operand 0, 1 or 2. If the form (bits 9-11) is 2, 3 or 7, the
// third operand is in the field at bit 32, and the second operand is at bit 64.
Slot slot_of(const Decoding& decoding, int operand) {
  if (operand == 0) return kSlotA;
  const int form = decoding.form();
  const bool exchanged = form == 2 || form == 3 || form == 7;
  if ((operand == 1) == exchanged) return kSlot64;
  Slot slot = kSlot32;
  slot.source = wide_source(decoding);
  return slot;
}

std::string constant(const Decoding& decoding) {
  return "c[" + hex(decoding.bits(54, 5)) + "][" + hex(4 * decoding.bits(40, 14)) + "]";
}

// Returns which halves of a register a packed FP16 instruction uses: both ("", the usual case), all
// 32 bits as one FP32 number, the lower half twice, or the upper half twice.
std::string half_of(const Decoding& decoding, const Slot& slot) {
  static constexpr std::array<const char*, 4> kHalves = {"", ".F32", ".H0_H0", ".H1_H1"};
  const int place = slot.place == 24 ? 74 : slot.place == 32 ? 60 : 81;
  return kHalves[decoding.bits(place, 2)];
}

std::string with_signs(const Decoding& decoding, const Slot& slot, const Argument& argument,
                       std::string text) {
  constexpr std::string_view kReuse = ".reuse";
  const bool reused = text.ends_with(kReuse);
  if (reused) text.resize(text.size() - kReuse.size());
  const bool third_half = argument.halves && slot.place == 64;  // the half has the usual bits
  const int absolute_bit = third_half ? 83 : slot.absolute, negate = third_half ? 84 : slot.negate;
  const bool absolute = argument.absolute && decoding.bit(absolute_bit);
  if (absolute) text = "|" + text + "|";
  if (reused) text += kReuse;
  if (argument.halves) text += half_of(decoding, slot);
  if (!argument.negates || !decoding.bit(negate)) return text;
  constexpr int kExtended = 74;  // ".X": the sum continues one of more bits, so that -a is ~a + 1
  const bool complements = argument.complements || (argument.extends && decoding.bit(kExtended));
  return (complements ? "~" : "-") + text;
}

void print_source(Decoding& decoding, int operand, const Slot& slot, const Argument& argument) {
  if (slot.source == Source::kImmediate) {
    decoding.print(immediate(static_cast<std::uint32_t>(decoding.bits(32, 32)), argument.kind));
    return;
  }
  std::string text;
  if (slot.source == Source::kConstant) {
    text = constant(decoding);
  } else if (slot.source == Source::kUniform) {
    text = read_register(decoding, RegisterFile::kUniform, slot.place, argument.count, operand);
  } else {
    text = read_register(decoding, RegisterFile::kGeneral, slot.place, argument.count, operand);
  }
  decoding.print(with_signs(decoding, slot, argument, std::move(text)));
}

// Prints a source operand of an instruction on uniform registers, whose registers are all uniform.
void print_uniform_source(Decoding& decoding, int operand, const Argument& argument) {
  const Slot slot = slot_of(decoding, operand);
  if (slot.source == Source::kImmediate) return print_source(decoding, operand, slot, argument);
  decoding.print(with_signs(
      decoding, slot, argument,
      read_register(decoding, RegisterFile::kUniform, slot.place, argument.count, operand)));
}

// How many registers a memory access of this size moves.
int registers_of_size(const Decoding& decoding) {
  static constexpr std::array<int, 8> kRegisters = {1, 1, 1, 1, 1, 2, 4, 1};
  return kRegisters[decoding.bits(73, 3)];
}

int count_of(const Decoding& decoding, std::string_view digits) {
  if (digits == "s") return registers_of_size(decoding);
  if (digits == "x") return 1 << decoding.bits(72, 2);
  if (digits == "t") return decoding.bits(75, 2) == 3 ? 2 : 1;
  if (digits == "F") return decoding.bits(84, 2) == 3 ? 2 : 1;
  if (digits == "U") return decoding.bit(73) ? 2 : 1;
  if (digits == "k") return decoding.bit(80) ? 2 : 1;
  if (digits == "n") {  // numbers of atomics; sm_90 has opcodes of their own for floating point
    const std::uint64_t number = decoding.bits(73, 3);
    if (decoding.sm >= 90) return number & 2 ? 2 : 1;
    return number == 2 || number == 5 || number == 6 ? 2 : 1;
  }
  if (digits == "N") return decoding.bits(73, 3) == 7 ? 2 : 1;
  if (digits == "D") return 3 + static_cast<int>(decoding.bits(79, 3));
  if (digits == "E") return 2 + static_cast<int>(decoding.bits(79, 3));
  if (digits == "W") return decoding.bits(73, 2) == 1 ? 2 : 1;
  return digits.empty() ? 1 : std::stoi(std::string(digits));
}

}  // namespace

Argument parse_argument(const Decoding& decoding, std::string_view text) {
  Argument argument;
  std::string count;
  for (const char letter : text) {
    if (letter == '-') {
      argument.negates = true;
    } else if (letter == '|') {
      argument.absolute = true;
    } else if (letter == '~') {
      argument.negates = argument.extends = true;
    } else if (letter == '^') {
      argument.negates = argument.complements = true;
    } else if (letter == 'w') {
      argument.halves = true;
    } else if (std::isdigit(static_cast<unsigned char>(letter)) ||
               std::string_view("sxtFknNDEWU").find(letter) != std::string_view::npos) {
      count += letter;
    } else {
      argument.kind = letter;
    }
  }
  argument.count = count_of(decoding, count);
  return argument;
}

std::string register_name(RegisterFile file, int number) {
  const bool uniform = file == RegisterFile::kUniform;
  const std::string prefix = uniform ? "UR" : "R";
  return prefix + (number == (uniform ? 63 : 255) ? "Z" : std::to_string(number));
}

int register_at(const Decoding& decoding, RegisterFile file, int place) {
  return static_cast<int>(decoding.bits(place, file == RegisterFile::kUniform ? 6 : 8));
}

namespace {

bool is_zero(RegisterFile file, int number) {
  return number == (file == RegisterFile::kUniform ? 63 : 255);
}

}  // namespace

std::string read_register(Decoding& decoding, RegisterFile file, int place, int count,
                          int operand) {
  const int number = register_at(decoding, file, place);
  if (!is_zero(file, number)) decoding.operation.reads.push_back({file, number, count, operand});
  constexpr int kStays = 109, kReuse = 122;  // bits of the control field
  const bool reused = file == RegisterFile::kGeneral && operand >= 0 && decoding.bit(kStays) &&
                      decoding.bit(kReuse + operand);
  return register_name(file, number) + (reused ? ".reuse" : "");
}

std::string written_register(Decoding& decoding, RegisterFile file, int place, int count) {
  const int number = register_at(decoding, file, place);
  if (!is_zero(file, number)) decoding.operation.writes.push_back({file, number, count, -1});
  return register_name(file, number);
}

std::string predicate_name(RegisterFile file, int number) {
  const std::string prefix = file == RegisterFile::kUniformPredicate ? "UP" : "P";
  return prefix + (number == 7 ? "T" : std::to_string(number));
}

std::string read_predicate(Decoding& decoding, RegisterFile file, int place, int negate) {
  const auto number = static_cast<int>(decoding.bits(place, 3));
  if (number != 7) decoding.operation.reads.push_back({file, number, 1, -1});
  return (decoding.bit(negate) ? "!" : "") + predicate_name(file, number);
}

std::string written_predicate(Decoding& decoding, RegisterFile file, int place) {
  const auto number = static_cast<int>(decoding.bits(place, 3));
  if (number != 7) decoding.operation.writes.push_back({file, number, 1, -1});
  return predicate_name(file, number);
}

namespace {

using OperandPrinter = void (*)(Decoding&, const Argument&);

using enum RegisterFile;

template <RegisterFile file>
void destination(Decoding& decoding, const Argument& argument) {
  decoding.print(written_register(decoding, file, 16, argument.count));
}

template <int operand>
void source(Decoding& decoding, const Argument& argument) {
  print_source(decoding, operand, slot_of(decoding, operand), argument);
}

template <int operand>
void uniform_source(Decoding& decoding, const Argument& argument) {
  print_uniform_source(decoding, operand, argument);
}

// HW: a sum of two numbers has no logical operand 1. Its second number is logical operand 2, in the
// field of operand 1, with the reuse flag of operand 2 (turingas; seen in ptxas' output).
void addend(Decoding& decoding, const Argument& argument) {
  Slot slot = kSlot32;
  slot.source = wide_source(decoding);
  print_source(decoding, 2, slot, argument);
}

// Prints a register whose position does not depend on the form.
template <RegisterFile file, int place, int operand>
void plain(Decoding& decoding, const Argument& argument) {
  decoding.print(read_register(decoding, file, place, argument.count, operand));
}

template <RegisterFile file, int place>
void predicate_out(Decoding& decoding, const Argument&) {
  decoding.print(written_predicate(decoding, file, place));
}

// Prints the carry that the instruction writes, then a comma. Prints nothing if there is no carry.
template <RegisterFile file, int place>
void carry_out(Decoding& decoding, const Argument&) {
  if (decoding.bits(place, 3) != 7) {
    decoding.print(written_predicate(decoding, file, place) + ", ");
  }
}

template <RegisterFile file, int place, int negate>
void predicate_in(Decoding& decoding, const Argument&) {
  decoding.print(read_predicate(decoding, file, place, negate));
}

// Prints a comma and the carry, only if bit `condition` says that the instruction has one.
template <RegisterFile file, int place, int negate, int condition>
void carry_in(Decoding& decoding, const Argument&) {
  if (decoding.bit(condition)) {
    decoding.print(", " + read_predicate(decoding, file, place, negate));
  }
}

// Prints a comma and the predicate that the instruction writes; nothing if there is no predicate.
void result_predicate(Decoding& decoding, const Argument&) {
  if (decoding.bits(81, 3) != 7) {
    decoding.print(", " + written_predicate(decoding, kPredicate, 81));
  }
}

const std::unordered_map<std::string_view, OperandPrinter>& operand_printers() {
  static const std::unordered_map<std::string_view, OperandPrinter> table = {
      {"d", destination<kGeneral>},
      {"ud", destination<kUniform>},
      {"a", source<0>},
      {"b", source<1>},
      {"c", source<2>},
      {"addend", addend},
      {"ua", uniform_source<0>},
      {"ub", uniform_source<1>},
      {"uc", uniform_source<2>},
      {"r24", plain<kGeneral, 24, 0>},
      {"r32", plain<kGeneral, 32, 1>},
      {"r64", plain<kGeneral, 64, 2>},
      {"u24", plain<kUniform, 24, -1>},
      {"u32", plain<kUniform, 32, -1>},
      {"u64", plain<kUniform, 64, -1>},
      {"p81", predicate_out<kPredicate, 81>},
      {"p84", predicate_out<kPredicate, 84>},
      {"up81", predicate_out<kUniformPredicate, 81>},
      {"up84", predicate_out<kUniformPredicate, 84>},
      {"q87", predicate_in<kPredicate, 87, 90>},
      {"q77", predicate_in<kPredicate, 77, 80>},
      {"uq87", predicate_in<kUniformPredicate, 87, 90>},
      {"uq77", predicate_in<kUniformPredicate, 77, 80>},
      {"uq68", predicate_in<kUniformPredicate, 68, 71>},
      {"result81", result_predicate},
      {"carry_out81", carry_out<kPredicate, 81>},
      {"carry_out84", carry_out<kPredicate, 84>},
      {"ucarry_out81", carry_out<kUniformPredicate, 81>},
      {"ucarry_out84", carry_out<kUniformPredicate, 84>},
      {"carry_in87", carry_in<kPredicate, 87, 90, 74>},
      {"carry_in77", carry_in<kPredicate, 77, 80, 74>},
      {"ucarry_in87", carry_in<kUniformPredicate, 87, 90, 74>},
      {"ucarry_in77", carry_in<kUniformPredicate, 77, 80, 74>},
      {"ex68", carry_in<kPredicate, 68, 71, 72>},
      {"uex68", carry_in<kUniformPredicate, 68, 71, 72>},
  };
  return table;
}

}  // namespace

void print_piece(Decoding& decoding, std::string_view piece) {
  if (piece.starts_with('\'')) return decoding.print(piece.substr(1));
  if (piece.starts_with('.') && print_modifier(decoding, piece)) return;
  const std::size_t colon = piece.find(':');
  const std::string_view word = piece.substr(0, colon);
  const std::string_view rest =
      colon == std::string_view::npos ? std::string_view() : piece.substr(colon + 1);
  if (const auto found = operand_printers().find(word); found != operand_printers().end()) {
    return found->second(decoding, parse_argument(decoding, rest));
  }
  if (print_memory_piece(decoding, word)) return;
  if (print_special_piece(decoding, word) || print_tensor_piece(decoding, word)) return;
  throw std::logic_error("No such word in a pattern: " + std::string(piece));
}

}  // namespace tessera::sass
