// Converts PTX text to tokens. Each modifier of an opcode (".global") is a token of its own,
// because the order of modifiers is not fixed. Comments and white space are dropped.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::vgpu::ptx {

enum class TokenKind : std::uint8_t {
  kWord,     // sgemm, %r1, $L__BB0_1, _
  kDot,      // .f32, .shared::cta; text is without the dot
  kInteger,  // value: 12, -0 is two tokens, 0x1F, 017, 0b101, 12U
  kFloat32,  // value: the bits of 0f3F800000
  kFloat64,  // value: the bits of 0d3FF0000000000000 or of 1.5e3
  kString,   // text is without the quotes
  kPunct,    // text is one character
  kEnd,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::uint32_t line = 0;  // from 1
  std::string_view text;   // lies in the PTX text
  std::uint64_t value = 0;
};

// Returns the tokens; the last one is kEnd. Throws Fault kSyntax.
std::vector<Token> tokenize(std::string_view text);

// Throws a Fault kSyntax that shows the message, and the line of the text with a mark under
// `where`, which must be a part of `text`.
[[noreturn]] void syntax_error(std::string_view text, std::string_view where, std::uint32_t line,
                               const std::string& message);

}  // namespace tessera::vgpu::ptx
