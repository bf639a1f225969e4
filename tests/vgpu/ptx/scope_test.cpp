// Inline asm opens a { } scope and declares the same names in each; the executor sees none of it.
#include "tests/vgpu/ptx/helpers.h"

namespace tessera::vgpu::ptx {
namespace {

const std::string kAsmBlock =
    "{ .reg .b32 t<3>; mov.b32 t1, %r1; @%p1 bra DONE; mov.b32 t2, t1; DONE: }\n";

TEST(Scope, SameNamesInTwoScopesStayApart) {
  const Function f =
      parse_entry_body(".reg .b32 %r<2>; .reg .pred %p<2>;\n" + kAsmBlock + kAsmBlock + "ret;");
  ASSERT_EQ(f.body.size(), 7u);
  ASSERT_EQ(f.labels.size(), 2u);
  EXPECT_NE(f.labels[0].name, f.labels[1].name);
  EXPECT_EQ(f.body[1].operands[0].name, f.labels[0].name);
  EXPECT_EQ(f.body[4].operands[0].name, f.labels[1].name);
  EXPECT_EQ(f.labels[0].instruction, 3u);
  EXPECT_EQ(f.labels[1].instruction, 6u);
  EXPECT_NE(f.body[0].operands[0].name, f.body[3].operands[0].name);
  EXPECT_EQ(f.body[2].operands[1].name, f.body[0].operands[0].name);
  EXPECT_NO_THROW(variable_named(f, f.body[0].operands[0].name));
  EXPECT_EQ(f.body[0].operands[1].name, "%r1");
}

TEST(Scope, InnerNamesHideOuterNames) {
  const Function f = parse_entry_body(
      ".reg .b32 a, b;\n mov.b32 b, a;\n { .reg .b32 a; mov.b32 b, a; }\n mov.b32 b, a;");
  EXPECT_EQ(f.body[0].operands[1].name, "a");
  EXPECT_NE(f.body[1].operands[1].name, "a");
  EXPECT_EQ(f.body[2].operands[1].name, "a");
}

TEST(Scope, BranchesLeaveScopesBothWays) {
  const Function f = parse_entry_body("OUT: { bra OUT; { bra LATER; } }\nLATER: ret;");
  EXPECT_EQ(f.body[0].operands[0].name, "OUT");
  EXPECT_EQ(f.body[1].operands[0].name, "LATER");
}

TEST(Scope, NamesOfAnInnerScopeEndWithIt) {
  EXPECT_THROW(parse_entry_body("{ .reg .b32 t; } .reg .b32 u; mov.b32 u, t;"), Fault);
  EXPECT_THROW(parse_entry_body("{ INNER: } bra INNER;"), Fault);
}

TEST(Scope, TwiceInOneScopeIsAnError) {
  EXPECT_THROW(parse_entry_body(".reg .b32 a; .reg .b32 a;"), Fault);
  EXPECT_THROW(parse_entry_body("L: L: ret;"), Fault);
}

TEST(Scope, BranchTables) {
  const Function f =
      parse_entry_body(".reg .b32 %r<2>; { ts: .branchtargets A, B; brx.idx %r1, ts; A: } B: ret;");
  ASSERT_EQ(f.tables.size(), 1u);
  EXPECT_EQ(f.body[0].operands[1].name, f.tables[0].name);
  ASSERT_EQ(f.tables[0].labels.size(), 2u);
  EXPECT_EQ(f.tables[0].labels[0], f.labels[0].name);
  EXPECT_EQ(f.tables[0].labels[1], "B");
}

}  // namespace
}  // namespace tessera::vgpu::ptx
