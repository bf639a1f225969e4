// Converts PTX text to tokens. Modifiers of an opcode are separate tokens (".global"), because
// their order is not fixed; comments and white space are dropped.
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

// The last token is kEnd. Throws Fault kSyntax.
std::vector<Token> tokenize(std::string_view text);

// Throws Fault kSyntax: the message, then the line of the text with a mark under `where`, which
// must lie in the text.
[[noreturn]] void syntax_error(std::string_view text, std::string_view where, std::uint32_t line,
                               const std::string& message);

}  // namespace tessera::vgpu::ptx
