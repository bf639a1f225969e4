// A position in a list of tokens, with the tests that a recursive descent parser needs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/ptx/lexer.h"

namespace tessera::vgpu::ptx {

class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text), tokens_(tokenize(text)) {}

  const Token& peek(std::size_t ahead = 0) const {
    return tokens_[std::min(pos_ + ahead, tokens_.size() - 1)];
  }
  const Token& next() { return tokens_[pos_ + 1 < tokens_.size() ? pos_++ : pos_]; }
  bool at_end() const { return peek().kind == TokenKind::kEnd; }

  bool is(TokenKind kind) const { return peek().kind == kind; }
  bool is_punct(char c, std::size_t ahead = 0) const {
    return peek(ahead).kind == TokenKind::kPunct && peek(ahead).text[0] == c;
  }
  bool is_dot(std::string_view word) const { return is(TokenKind::kDot) && peek().text == word; }
  bool accept(char punct) { return is_punct(punct) && (++pos_, true); }
  bool accept_dot(std::string_view word) { return is_dot(word) && (++pos_, true); }

  void expect(char punct) {
    if (!accept(punct)) fail(std::string("'") + punct + "' was expected");
  }
  const Token& expect(TokenKind kind, const char* what) {
    if (!is(kind)) fail(std::string(what) + " was expected");
    return next();
  }
  // Reads an integer that may have a sign.
  std::int64_t expect_integer(const char* what) {
    const bool negative = accept('-');
    const std::uint64_t value = expect(TokenKind::kInteger, what).value;
    return static_cast<std::int64_t>(negative ? 0 - value : value);
  }

  // Skips from an opening brace to its closing brace, both included.
  void skip_braces() {
    expect('{');
    for (int depth = 1; depth > 0;) {
      if (at_end()) fail("'}' was expected");
      const Token& token = next();
      if (token.kind != TokenKind::kPunct) continue;
      depth += token.text[0] == '{' ? 1 : token.text[0] == '}' ? -1 : 0;
    }
  }
  // Skips the rest of an unknown directive, up to its ';' or the end of its line.
  void skip_line() {
    const std::uint32_t line = peek().line;
    while (!at_end() && peek().line == line && !is_punct('{') && !is_punct('}')) {
      if (accept(';')) return;
      next();
    }
  }

  [[noreturn]] void fail(const std::string& message) const { fail_at(peek(), message); }
  [[noreturn]] void fail_at(const Token& token, const std::string& message) const {
    syntax_error(text_, token.text, token.line, message);
  }

 private:
  std::string_view text_;
  std::vector<Token> tokens_;
  std::size_t pos_ = 0;
};

}  // namespace tessera::vgpu::ptx
