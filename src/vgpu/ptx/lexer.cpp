// The lexer reads texts of several hundred kB on every load. So it looks at each character once and
// copies nothing: tokens refer to the text.
#include "vgpu/ptx/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>

#include "vgpu/report/fault.h"

namespace tessera::vgpu::ptx {
namespace {

enum CharClass : std::uint8_t { kOther = 0, kSpace = 1, kDigit = 2, kWordStart = 4, kWordPart = 8 };

constexpr std::array<std::uint8_t, 256> make_classes() {
  std::array<std::uint8_t, 256> classes{};
  for (int c = 'a'; c <= 'z'; ++c) classes[c] = kWordStart | kWordPart;
  for (int c = 'A'; c <= 'Z'; ++c) classes[c] = kWordStart | kWordPart;
  for (int c = '0'; c <= '9'; ++c) classes[c] = kDigit | kWordPart;
  for (char c : {'_', '$', '%'}) classes[static_cast<unsigned char>(c)] = kWordStart | kWordPart;
  for (char c : {' ', '\t', '\r', '\f', '\v', '\n'}) {
    classes[static_cast<unsigned char>(c)] = kSpace;
  }
  return classes;
}
constexpr auto kClasses = make_classes();

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    tokens.reserve(text_.size() / 5 + 16);
    while (skip_blanks()) tokens.push_back(next());
    tokens.push_back({TokenKind::kEnd, line_, text_.substr(text_.size()), 0});
    return tokens;
  }

 private:
  char at(std::size_t i) const { return i < text_.size() ? text_[i] : '\0'; }
  bool is(std::size_t i, std::uint8_t char_class) const {
    return i < text_.size() && (kClasses[static_cast<unsigned char>(text_[i])] & char_class) != 0;
  }
  [[noreturn]] void fail(std::size_t begin, std::size_t end, const std::string& message) const {
    syntax_error(text_, text_.substr(begin, end - begin), line_, message);
  }

  // Skips white space and comments. Returns false at the end of the text.
  bool skip_blanks() {
    for (;;) {
      while (is(pos_, kSpace)) line_ += text_[pos_++] == '\n';
      if (pos_ >= text_.size() || at(pos_) == '\0') return false;
      if (at(pos_) != '/') return true;
      if (at(pos_ + 1) == '/') {
        pos_ = std::min(text_.find('\n', pos_), text_.size());
      } else if (at(pos_ + 1) == '*') {
        skip_block_comment();
      } else {
        return true;
      }
    }
  }

  void skip_block_comment() {
    const std::size_t end = text_.find("*/", pos_ + 2);
    if (end == std::string_view::npos) fail(pos_, pos_ + 2, "comment without its end");
    line_ += std::count(text_.begin() + pos_, text_.begin() + end, '\n');
    pos_ = end + 2;
  }

  Token next() {
    if (is(pos_, kWordStart)) return word();
    if (is(pos_, kDigit)) return number();
    if (at(pos_) == '.' && is(pos_ + 1, kWordPart)) return dot_word();
    if (at(pos_) == '"') return string();
    return take(TokenKind::kPunct, pos_, pos_ + 1);
  }

  Token take(TokenKind kind, std::size_t begin, std::size_t end, std::uint64_t value = 0) {
    pos_ = end;
    return {kind, line_, text_.substr(begin, end - begin), value};
  }

  Token word() {
    std::size_t end = pos_ + 1;
    while (is(end, kWordPart)) ++end;
    return take(TokenKind::kWord, pos_, end);
  }

  // ".shared::cta" is one token; a single ':' ends a token.
  Token dot_word() {
    std::size_t end = pos_ + 1;
    for (;;) {
      while (is(end, kWordPart)) ++end;
      if (at(end) != ':' || at(end + 1) != ':' || !is(end + 2, kWordPart)) break;
      end += 2;
    }
    return take(TokenKind::kDot, pos_ + 1, end);
  }

  Token string() {
    const std::size_t end = text_.find_first_of("\"\n", pos_ + 1);
    if (at(end) != '"') fail(pos_, pos_ + 1, "string without its end");
    Token token = take(TokenKind::kString, pos_ + 1, end);
    pos_ = end + 1;
    return token;
  }

  Token number() {
    const char second = at(pos_ + 1);
    if (at(pos_) == '0') {
      if (second == 'f' || second == 'F') return hex_float(TokenKind::kFloat32, 8);
      if (second == 'd' || second == 'D') return hex_float(TokenKind::kFloat64, 16);
      if (second == 'x' || second == 'X') return integer(pos_ + 2, 16);
      if (second == 'b' || second == 'B') return integer(pos_ + 2, 2);
    }
    std::size_t end = pos_;
    while (is(end, kDigit)) ++end;
    if (at(end) == '.' || at(end) == 'e' || at(end) == 'E') return decimal_float();
    return at(pos_) == '0' && end > pos_ + 1 ? integer(pos_ + 1, 8) : integer(pos_, 10);
  }

  Token hex_float(TokenKind kind, std::size_t digits) {
    const std::size_t begin = pos_ + 2, end = std::min(begin + digits, text_.size());
    std::uint64_t bits = 0;
    const auto [rest, error] = std::from_chars(text_.data() + begin, text_.data() + end, bits, 16);
    if (error != std::errc() || rest != text_.data() + begin + digits || is(end, kWordPart)) {
      fail(pos_, end, fmt::format("a {}-digit hexadecimal float was expected", digits));
    }
    return take(kind, pos_, end, bits);
  }

  Token decimal_float() {
    double value = 0;
    const auto [rest, error] =
        std::from_chars(text_.data() + pos_, text_.data() + text_.size(), value);
    const std::size_t end = rest - text_.data();
    if (error != std::errc() || is(end, kWordPart)) fail(pos_, end + 1, "malformed number");
    return take(TokenKind::kFloat64, pos_, end, std::bit_cast<std::uint64_t>(value));
  }

  Token integer(std::size_t begin, int base) {
    std::uint64_t value = 0;
    const auto [rest, error] =
        std::from_chars(text_.data() + begin, text_.data() + text_.size(), value, base);
    std::size_t end = rest - text_.data();
    if (error == std::errc() && (at(end) == 'U' || at(end) == 'u')) ++end;
    if (error != std::errc() || is(end, kWordPart)) fail(pos_, end + 1, "malformed number");
    return take(TokenKind::kInteger, pos_, end, value);
  }

  std::string_view text_;
  std::size_t pos_ = 0;
  std::uint32_t line_ = 1;
};

}  // namespace

std::vector<Token> tokenize(std::string_view text) { return Lexer(text).run(); }

void syntax_error(std::string_view text, std::string_view where, std::uint32_t line,
                  const std::string& message) {
  const std::size_t pos = where.data() - text.data();
  const std::size_t begin = pos == 0 ? 0 : text.rfind('\n', pos - 1) + 1;
  std::string excerpt(text.substr(begin, std::min(text.find('\n', begin), text.size()) - begin));
  std::replace(excerpt.begin(), excerpt.end(), '\t', ' ');
  const std::size_t column = pos - begin;
  const std::size_t width =
      std::clamp<std::size_t>(where.size(), 1, std::max(excerpt.size(), column + 1) - column);
  FaultPlace place;
  place.ptx_line = static_cast<int>(line);
  throw Fault(FaultKind::kSyntax,
              fmt::format("{}\n  {}\n  {}{}", message, excerpt, std::string(column, ' '),
                          std::string(width, '^')),
              place);
}

}  // namespace tessera::vgpu::ptx
