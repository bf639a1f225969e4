#include "sass/assemble/assembly_line.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <vector>

#include "sass/assemble/encode_text.h"
#include "sass/assemble/letters.h"

namespace tessera::sass {
namespace {

bool is_blank(char letter) { return letter == ' ' || letter == '\t'; }
bool is_name_letter(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' || letter == '$';
}

// Reads a line word by word.
class Cursor {
 public:
  Cursor(std::string_view text, std::size_t line) : text_(text), line_(line) {}

  std::string_view word() {
    skip_blanks();
    word_ = at_;
    while (at_ < text_.size() && !is_blank(text_[at_])) ++at_;
    return text_.substr(word_, at_ - word_);
  }
  std::string_view peek() {
    const std::size_t at = at_;
    const std::string_view next = word();
    at_ = at;
    return next;
  }
  std::string_view rest() {
    skip_blanks();
    word_ = at_;
    return text_.substr(at_);
  }
  // Throws an error at character `in_word` of the text that word() or rest() returned last.
  [[noreturn]] void fail(const std::string& what, std::size_t in_word = 0) const {
    throw AssemblyError(line_, word_ + in_word + 1, what);
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }
  std::string_view text_;
  std::size_t line_, at_ = 0, word_ = 0;
};

int number_in(Cursor& cursor, std::string_view word, int most, const char* what) {
  int value = 0;
  for (const char letter : word) {
    if (!is_digit(letter)) cursor.fail(what);
    value = std::min(10 * value + (letter - '0'), 1000);
  }
  if (word.empty() || value > most) cursor.fail(what);
  return value;
}

int scoreboard(Cursor& cursor, char letter) {
  const std::string what =
      std::string("expected ") + letter + "0 to " + letter + "5, or " + letter + "- for none";
  const std::string_view word = cursor.word();
  if (word.size() != 2 || word[0] != letter) cursor.fail(what);
  if (word[1] == '-') return -1;
  if (word[1] < '0' || word[1] > '5') cursor.fail(what, 1);
  return word[1] - '0';
}

unsigned waits(Cursor& cursor) {
  constexpr std::size_t kScoreboards = 6;
  const char* const what = "expected the scoreboards to wait for, such as 01---- or ------";
  const std::string_view word = cursor.word();
  if (word.size() != kScoreboards) cursor.fail(what);
  unsigned mask = 0;
  for (std::size_t i = 0; i < kScoreboards; ++i) {
    if (word[i] == '-') continue;
    if (word[i] != static_cast<char>('0' + i)) cursor.fail(what, i);
    mask |= 1U << i;
  }
  return mask;
}

Control control_in(Cursor& cursor) {
  Control control;
  control.stall = number_in(cursor, cursor.word(), 15, "expected a stall of 0 to 15 cycles");
  const std::string_view yields = cursor.word();
  if (yields != "Y" && yields != "-") cursor.fail("expected Y (yields) or -");
  control.yields = yields == "Y";
  control.write_scoreboard = scoreboard(cursor, 'w');
  control.read_scoreboard = scoreboard(cursor, 'r');
  control.wait_mask = waits(cursor);
  if (cursor.peek().starts_with('#')) {
    const std::string_view tag = cursor.word();
    control.batch =
        static_cast<unsigned>(number_in(cursor, tag.substr(1), 15, "expected a tag of #1 to #15"));
  }
  return control;
}

// Text in which names were replaced, and the position of each of its characters in the old text.
struct Replaced {
  std::string text;
  std::vector<std::size_t> origins;
};

Replaced replaced(std::string_view text, const Names& names) {
  Replaced result;
  const auto add = [&](std::string_view more, std::size_t origin, bool moves) {
    for (std::size_t i = 0; i < more.size(); ++i) {
      const bool is_second_blank = is_blank(more[i]) && result.text.ends_with(' ');
      if (is_second_blank) continue;
      result.text += is_blank(more[i]) ? ' ' : more[i];
      result.origins.push_back(origin + (moves ? i : 0));
    }
  };
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_name_letter(text[end])) ++end;
    const bool is_part = at > 0 && text[at - 1] == '.';
    const auto found = end > at && !is_part ? names.find(text.substr(at, end - at)) : names.end();
    if (end == at) ++end;
    if (found != names.end()) {
      add(found->second, at, false);
    } else {
      add(text.substr(at, end - at), at, true);
    }
    at = end;
  }
  while (result.text.ends_with(' ')) result.text.pop_back();
  return result;
}

// "84-85 = 0x2, 91 = 0x1"
Instruction with_named_bits(Instruction instruction, Cursor& cursor, std::string_view text,
                            std::size_t start) {
  const std::string copy(text);
  const char* at = copy.c_str();
  for (;;) {
    int first = 0, last = 0, length = 0;
    unsigned long long value = 0;
    const auto place = start + static_cast<std::size_t>(at - copy.c_str());
    bool is_read = std::sscanf(at, " %d - %d = %llx %n", &first, &last, &value, &length) == 3;
    if (!is_read) {
      is_read = std::sscanf(at, " %d = %llx %n", &first, &value, &length) == 2;
      last = first;
    }
    if (!is_read || first < 0 || last < first || last > 127 || last - first > 63) {
      cursor.fail("expected bits and their value, such as 84-85 = 0x2", place);
    }
    const int count = last - first + 1;
    if (count < 64 && value >> count != 0) cursor.fail("the value has more bits", place);
    for (int i = 0; i < count; ++i) {
      std::uint64_t& half = first + i < 64 ? instruction.low : instruction.high;
      const std::uint64_t bit = std::uint64_t{1} << (first + i) % 64;
      half = (value >> i & 1) != 0 ? half | bit : half & ~bit;
    }
    at += length;
    if (*at == 0) return instruction;
    if (*at++ != ',') cursor.fail("expected a comma", static_cast<std::size_t>(place));
  }
}

Instruction raw_words(Cursor& cursor, std::string_view text) {
  unsigned long long low = 0, high = 0;
  if (std::sscanf(std::string(text).c_str(), ".word %llx %llx", &low, &high) != 2) {
    cursor.fail("expected .word and two numbers of 64 bits");
  }
  return {low, high};
}

// Returns the bits that the text does not show and that differ from the bits that ptxas usually
// writes: "; bits 84-85 = 0x2, 91 = 0x1".
std::string unusual_bits(const Instruction& usual, const Instruction& real) {
  std::string text;
  for (int at = 0; at < 128; ++at) {
    if (usual.bits(at, 1) == real.bits(at, 1)) continue;
    int last = at;
    while (last + 1 < 128 && last - at < 63 && usual.bits(last + 1, 1) != real.bits(last + 1, 1))
      ++last;
    text += text.empty() ? " ; bits " : ", ";
    text += std::to_string(at) + (last > at ? "-" + std::to_string(last) : "");
    text += " = " + padded_hex(real.bits(at, last - at + 1));
    at = last;
  }
  return text;
}

}  // namespace

std::string control_text(const Control& control) {
  const auto scoreboard = [](int number) {
    return number < 0 ? '-' : static_cast<char>('0' + number);
  };
  char text[32];
  std::snprintf(text, sizeof text, "%2d %c w%c r%c ", control.stall, control.yields ? 'Y' : '-',
                scoreboard(control.write_scoreboard), scoreboard(control.read_scoreboard));
  std::string columns = text;
  for (int i = 0; i < 6; ++i) {
    columns += (control.wait_mask >> i & 1) != 0 ? static_cast<char>('0' + i) : '-';
  }
  if (control.batch != 0) columns += " #" + std::to_string(control.batch);
  return columns;
}

std::string instruction_text(const Instruction& instruction, std::uint64_t offset, int sm) {
  const std::string text = assembly_of(instruction, offset, sm);
  try {
    const Control control = control_of(instruction);
    return text + unusual_bits(encode(text, control, offset, sm).instruction, instruction);
  } catch (const EncodingError&) {
    return ".word " + padded_hex(instruction.low) + " " + padded_hex(instruction.high) + "  // " +
           text;
  }
}

Instruction instruction_of_line(std::string_view text, std::size_t line, std::uint64_t offset,
                                int sm, const Names& names) {
  Cursor cursor(text, line);
  if (cursor.peek().starts_with("0x")) cursor.word();
  const Control control = control_in(cursor);
  if (cursor.peek().find_first_not_of('|') == std::string_view::npos) cursor.word();
  const std::string_view rest = cursor.rest();
  if (rest.starts_with(".word")) return raw_words(cursor, rest);
  const std::size_t semicolon = rest.find(';');
  const Replaced plain = replaced(rest.substr(0, semicolon), names);
  Instruction instruction;
  try {
    instruction = encode(plain.text, control, offset, sm).instruction;
  } catch (const EncodingError& error) {
    const std::size_t at = error.column;
    cursor.fail(error.what(), at < plain.origins.size() ? plain.origins[at] : rest.size());
  } catch (const std::invalid_argument& error) {
    throw AssemblyError(line, 1, error.what());
  }
  if (semicolon == std::string_view::npos) return instruction;
  constexpr std::string_view kBits = " bits ";
  const std::string_view extra = rest.substr(semicolon + 1);
  if (!extra.starts_with(kBits)) cursor.fail("expected bits, as in ; bits 91 = 0x1", semicolon + 1);
  return with_named_bits(instruction, cursor, extra.substr(kBits.size()),
                         semicolon + 1 + kBits.size());
}

}  // namespace tessera::sass
