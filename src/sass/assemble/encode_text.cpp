#include "sass/assemble/encode_text.h"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "sass/assemble/field_values.h"
#include "sass/assemble/usual_bits.h"
#include "sass/decode/decode.h"

namespace tessera::sass {
namespace {

constexpr std::uint64_t ones(int count) { return ~std::uint64_t{0} >> (64 - count); }

Instruction with_bits(Instruction instruction, int first, int count, std::uint64_t value) {
  const auto put = [](std::uint64_t& half, int shift, std::uint64_t mask, std::uint64_t bits) {
    half = (half & ~(mask << shift)) | (bits & mask) << shift;
  };
  if (first >= 64) {
    put(instruction.high, first - 64, ones(count), value);
    return instruction;
  }
  const int below = std::min(count, 64 - first);
  put(instruction.low, first, ones(below), value);
  if (below < count) put(instruction.high, 0, ones(count - below), value >> below);
  return instruction;
}

// A part of a row's pattern (decode.h): literal text, or a word in braces, which names a field.
struct Piece {
  std::string_view text;
  bool is_word = false;
};
std::vector<Piece> pieces_of(std::string_view pattern) {
  std::vector<Piece> pieces;
  while (!pattern.empty()) {
    const std::size_t open = pattern.find('{');
    if (open != 0) pieces.push_back({pattern.substr(0, open)});
    if (open == std::string_view::npos) break;
    const std::size_t close = pattern.find('}', open);
    pieces.push_back({pattern.substr(open + 1, close - open - 1), true});
    pattern.remove_prefix(close + 1);
  }
  return pieces;
}

struct Form {
  int key = 0;
  const Row* row = nullptr;
  std::vector<Piece> pieces;
};

// Returns the first part of an opcode's name: "IMAD" of IMAD.WIDE.
std::string_view stem_of(std::string_view text) {
  return text.substr(0, text.find_first_of(". ,"));
}

const std::vector<Form>& forms_named(std::string_view stem) {
  static const auto table = [] {
    std::map<std::string, std::vector<Form>, std::less<>> forms;
    for (const int key : all_keys()) {
      const Row* const row = find_row(key);
      forms[std::string(stem_of(row_name(*row)))].push_back({key, row, pieces_of(row->pattern)});
    }
    return forms;
  }();
  static const std::vector<Form> kNone;
  const auto found = table.find(stem);
  return found == table.end() ? kNone : found->second;
}

// Whether a word of a pattern prints several operands, or numbers that no other word prints.
bool is_long(std::string_view word) {
  static constexpr std::array<std::string_view, 14> kLong = {"hmma",       "dmma",
                                                             "imma",       "bmma",
                                                             "operands",   "operands_in_registers",
                                                             "f2fp",       "signs",
                                                             "barrier",    "depbar",
                                                             "warpgroup",  "return",
                                                             "collective", "maximum_registers"};
  return std::ranges::find(kLong, word) != kLong.end();
}
bool takes_all_values(std::string_view word, int bits) {
  if (bits <= 4) return true;
  if (bits > 8) return false;
  return word.starts_with('.') || word == "special_register" || word == "depbar" ||
         word.starts_with("plop");
}

// Finds field values with which one form (one key of a row) prints the given text.
class Filling {
 public:
  Filling(const Form& form, std::string_view text, std::uint64_t offset, int sm)
      : form_(form), text_(text), offset_(offset), sm_(sm), usual_(usual_bits(form.key, sm)) {}

  bool find(const Instruction& control) {
    Instruction value = usual_, given;
    value = copy(value, control, 105, 17);
    given = with_bits(given, 0, 12, ones(12));
    given = with_bits(given, 91, 1, 1);
    given = with_bits(given, 105, 17, ones(17));
    if (control.bits(109, 1) == 0) {  // a tag, no flags
      value = copy(value, control, 122, 4);
      given = with_bits(given, 122, 4, ones(4));
    } else {
      value = with_bits(value, 122, 4, 0);
      given = with_bits(given, 125, 1, 1);
    }
    return fill(0, 0, value, given);
  }
  const Instruction& found() const { return found_; }
  const Instruction& shown() const { return shown_; }
  std::size_t furthest() const { return furthest_; }

 private:
  static Instruction copy(const Instruction& to, const Instruction& from, int first, int count) {
    return with_bits(to, first, count, from.bits(first, count));
  }

  // Matches the text from character `at` on with the pieces from `piece` on. Piece 0 is the guard.
  bool match(std::size_t piece, std::size_t at, const Instruction& value,
             const Instruction& given) {
    furthest_ = std::max(furthest_, at);
    if (piece > form_.pieces.size()) {
      if (at != text_.size()) return false;
      found_ = value;
      shown_ = given;
      return true;
    }
    const Piece& next = form_.pieces[piece - 1];
    if (next.is_word) return fill(piece, at, value, given);
    const std::string_view rest = text_.substr(at);
    const auto [end, ignored] = std::ranges::mismatch(next.text, rest);
    const auto same = static_cast<std::size_t>(end - next.text.begin());
    if (same < next.text.size()) {
      furthest_ = std::max(furthest_, at + same);
      return false;
    }
    return match(piece + 1, at + same, value, given);
  }

  std::string_view word(std::size_t piece) const {
    return piece == 0 ? "guard" : form_.pieces[piece - 1].text;
  }

  // Prints one word of the pattern. If the word reads a field that has no value yet, tries values
  // for the first such field.
  bool fill(std::size_t piece, std::size_t at, const Instruction& value, const Instruction& given) {
    if (--budget_ < 0) return false;
    operation_.text.clear();
    operation_.reads.clear();
    operation_.writes.clear();
    FieldReads reads{given};
    Decoding decoding{value, offset_, sm_, operation_, &reads, true, false};
    if (piece == 0) {
      print_guard(decoding, form_.row->guard);
    } else {
      print_piece(decoding, word(piece));
    }
    const bool is_printed = reads.first < 0;
    const std::size_t length = is_printed ? operation_.text.size() : reads.printed;
    const std::string_view printed = std::string_view(operation_.text).substr(0, length);
    if (!text_.substr(at).starts_with(printed)) return false;
    if (is_printed) return match(piece + 1, at + length, value, given);
    const Instruction more = with_bits(given, reads.first, reads.count, ones(reads.count));
    for (const std::uint64_t way : values(piece, at, reads.first, reads.count)) {
      const Instruction filled = with_bits(value, reads.first, reads.count, way);
      if (((filled.low ^ value.low) & given.low) != 0) continue;
      if (((filled.high ^ value.high) & given.high) != 0) continue;
      if (fill(piece, at, filled, more)) return true;
    }
    return false;
  }

  // Returns the text that a word may have printed: one operand, or all the rest if is_long(word).
  std::string_view operand(std::size_t piece, std::size_t at) const {
    const std::string_view rest = text_.substr(at);
    if (is_long(word(piece))) return rest;
    const std::size_t comma = rest.find(", ");
    if (comma == std::string_view::npos || word(piece).find(":") == std::string_view::npos) {
      // The text of an optional operand begins with the comma.
      return comma == 0 ? rest.substr(0, rest.find(", ", 2)) : rest.substr(0, comma);
    }
    const bool is_pair =
        word(piece).substr(word(piece).find(':')).find('h') != std::string_view::npos;
    return rest.substr(0, is_pair ? rest.find(", ", comma + 2) : comma);
  }

  std::vector<std::uint64_t> values(std::size_t piece, std::size_t at, int first, int count) const {
    constexpr int kRegister = 8, kWarpRegister = 6;
    const std::uint64_t mask = ones(count), usual = usual_.bits(first, count);
    std::vector<std::uint64_t> all;
    const auto add = [&](std::uint64_t value) {
      if (std::ranges::find(all, value & mask) == all.end()) all.push_back(value & mask);
    };
    if (takes_all_values(word(piece), count)) {
      add(usual);
      for (std::uint64_t value = 0; value <= mask; ++value) add(value);
      return all;
    }
    const std::string_view printed = operand(piece, at);
    for (const std::uint64_t value : register_values(printed, count == kWarpRegister)) add(value);
    if (count != kRegister && count != kWarpRegister) all.clear();
    if (!all.empty() && !is_long(word(piece))) {
      add(mask);  // a zero register may be left out
      return all;
    }
    for (const std::uint64_t value : field_values(printed, offset_)) add(value);
    add(usual);
    add(mask);
    add(0);
    return all;
  }

  const Form& form_;
  std::string_view text_;
  std::uint64_t offset_;
  int sm_;
  Instruction usual_, found_, shown_;
  Operation operation_;
  std::size_t furthest_ = 0;
  int budget_ = 100'000;
};

std::string_view without_guard(std::string_view text) {
  if (!text.starts_with('@')) return text;
  const std::size_t blank = text.find(' ');
  return blank == std::string_view::npos ? std::string_view() : text.substr(blank + 1);
}

// Replaces IMAD.MOV, IMAD.IADD and IMAD.SHL by IMAD: the operands already say that the IMAD moves,
// adds or shifts. Replaces RED by REDG before sm_90.
std::string without_alias(std::string_view text, int sm) {
  std::string plain(text);
  if (sm < 90 && without_guard(text).starts_with("RED.")) {
    plain.insert(text.size() - without_guard(text).size() + 3, "G");
  }
  for (const std::string_view alias : {"IMAD.MOV", "IMAD.IADD", "IMAD.SHL"}) {
    const std::size_t at = plain.find(alias);
    if (at == text.size() - without_guard(text).size()) plain.erase(at + 4, alias.size() - 4);
  }
  return plain;
}

}  // namespace

namespace {

// HW: conversions from or to 64 bits have opcodes of their own. Apart from the type, their text is
// the same as that of other conversions.
bool is_of_other_width(const Form& form, std::string_view text) {
  const int opcode = form.key & 0x1FF;
  const bool is_wide = opcode >= 0x110 && opcode <= 0x113;
  const bool is_narrow = opcode >= 0x104 && opcode <= 0x107;
  const bool has_64 = text.substr(0, text.find(' ')).find("64") != std::string_view::npos;
  return (is_wide && !has_64) || (is_narrow && has_64);
}

}  // namespace

EncodedText encode(std::string_view text, const Control& control, std::uint64_t offset, int sm) {
  const Instruction bits = with_control({}, control);
  const std::string plain = without_alias(text, sm);
  const std::size_t start = text.size() - without_guard(text).size();
  std::vector<const Form*> forms;
  for (const Form& form : forms_named(stem_of(without_guard(plain)))) forms.push_back(&form);
  if (forms.empty()) throw EncodingError(start, "no such instruction");
  std::ranges::stable_sort(forms, {}, [&](const Form* form) {
    return std::pair(is_of_other_width(*form, without_guard(plain)), !is_usual(form->key, sm));
  });
  std::size_t furthest = 0;
  for (const Form* form : forms) {
    Filling filling(*form, plain, offset, sm);
    if (filling.find(bits)) {
      const std::string again = assembly_of(filling.found(), offset, sm);
      if (again == text) return {filling.found(), filling.shown()};
      throw EncodingError(start, "these operands make it " + again);
    }
    furthest = std::max(furthest, filling.furthest());
  }
  throw EncodingError(furthest + (text.size() - plain.size()),
                      "no form of this instruction reads so from here on");
}

}  // namespace tessera::sass
