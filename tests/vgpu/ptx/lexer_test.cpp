// The lexer decides what is one modifier, one number, one name; every later mistake starts here.
#include "vgpu/ptx/lexer.h"

#include <gtest/gtest.h>

#include "vgpu/report/fault.h"

namespace tessera::vgpu::ptx {
namespace {

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> result;
  for (const Token& token : tokenize(text)) result.emplace_back(token.text);
  result.pop_back();  // the end
  return result;
}

TEST(Lexer, ModifiersKeepTheirColons) {
  EXPECT_EQ(words("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32"),
            (std::vector<std::string>{"st", "async", "shared::cluster",
                                      "mbarrier::complete_tx::bytes", "v4", "b32"}));
  EXPECT_EQ(words("L1:"), (std::vector<std::string>{"L1", ":"}));
  EXPECT_EQ(tokenize("tensor.2d")[1].kind, TokenKind::kDot);
}

TEST(Lexer, NamesMayHoldDollarsAndPercentSigns) {
  EXPECT_EQ(words("$L__BB0_1 %r12 _Z1fi _"),
            (std::vector<std::string>{"$L__BB0_1", "%r12", "_Z1fi", "_"}));
}

TEST(Lexer, NumbersOfEveryForm) {
  const std::vector<Token> tokens = tokenize(
      "42 0x1F 017 0b101 7U 0 0f3F800000 0d4000000000000000 "
      "1.5 2e3 0xFFFFFFFFFFFFFFFF 0XaU");
  const std::uint64_t expected[] = {42,
                                    31,
                                    15,
                                    5,
                                    7,
                                    0,
                                    0x3F800000,
                                    0x4000000000000000,
                                    0x3FF8000000000000,
                                    0x409F400000000000,
                                    ~0ull,
                                    10};
  for (std::size_t i = 0; i < std::size(expected); ++i) EXPECT_EQ(tokens[i].value, expected[i]);
  EXPECT_EQ(tokens[5].kind, TokenKind::kInteger);
  EXPECT_EQ(tokens[6].kind, TokenKind::kFloat32);
  EXPECT_EQ(tokens[7].kind, TokenKind::kFloat64);
  EXPECT_EQ(tokens[8].kind, TokenKind::kFloat64);
}

TEST(Lexer, CommentsVanishAndLinesAreCounted) {
  const std::vector<Token> tokens = tokenize("// one\n/* two\nthree */ a\n\nb // c\n");
  ASSERT_EQ(tokens.size(), 3u);
  EXPECT_EQ(tokens[0].line, 3u);
  EXPECT_EQ(tokens[1].line, 5u);
}

TEST(Lexer, MalformedTokensAreNamed) {
  for (const char* text : {"0f3F80", "0d3FF", "0x", "12abc", "\"open", "/* open", "0f3F8000001",
                           "99999999999999999999999"}) {
    EXPECT_THROW(tokenize(text), Fault) << text;
  }
}

}  // namespace
}  // namespace tessera::vgpu::ptx
