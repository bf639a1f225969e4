// Guards, modifiers and operands of every form.
#include "tests/vgpu/ptx/helpers.h"

namespace tessera::vgpu::ptx {
namespace {

TEST(Instruction, GuardsAndModifiers) {
  const Instruction plain = parse_one("@%p1 ld.global.nc.L2::128B.v2.f32 {%f1, %f2}, [%d1+-16];");
  EXPECT_EQ(plain.guard, "%p1");
  EXPECT_FALSE(plain.guard_negated);
  EXPECT_EQ(plain.form(), "ld.global.nc.L2::128B.v2.f32");
  EXPECT_EQ(plain.modifiers.size(), 5u);
  EXPECT_EQ(plain.line, 8);
  EXPECT_TRUE(parse_one("@!%p2 bra.uni L; L:").guard_negated);
}

TEST(Instruction, Addresses) {
  const Operand negative = parse_one("st.global.f32 [%d1+-16], %f1;").operands[0];
  EXPECT_EQ(negative.kind, OperandKind::kAddress);
  EXPECT_TRUE(negative.address_is_register);
  EXPECT_EQ(negative.name, "%d1");
  EXPECT_EQ(negative.integer, -16);
  EXPECT_EQ(parse_one("ld.shared.u32 %r1, [%r2-4];").operands[1].integer, -4);
  EXPECT_EQ(parse_one("ld.shared.u32 %r1, [0x40];").operands[1].integer, 64);

  const Operand symbol = parse_one("ld.shared.u32 %r1, [tile+8];").operands[1];
  EXPECT_FALSE(symbol.address_is_register);
  EXPECT_EQ(symbol.name, "tile");
  EXPECT_EQ(symbol.integer, 8);

  const Operand tensor =
      parse_one(
          "cp.async.bulk.tensor.2d.shared::cluster.global.tile [%r1], [%d1, {%r2, 7}], [%r3];")
          .operands[1];
  ASSERT_EQ(tensor.elements.size(), 2u);
  EXPECT_EQ(tensor.elements[1].integer, 7);
}

TEST(Instruction, SymbolsWithOffsets) {
  const Operand operand = parse_one("mov.u32 %r1, tile+12;").operands[1];
  EXPECT_EQ(operand.kind, OperandKind::kSymbol);
  EXPECT_EQ(operand.name, "tile");
  EXPECT_EQ(operand.integer, 12);
}

TEST(Instruction, Literals) {
  EXPECT_EQ(parse_one("add.s32 %r1, %r2, -5;").operands[2].integer, -5);
  EXPECT_EQ(parse_one("and.b64 %d1, %d2, 0xFFFFFFFFFFFFFFFF;").operands[2].integer, -1);
  EXPECT_EQ(parse_one("and.b32 %r1, %r2, ~3;").operands[2].integer, -4);
  EXPECT_EQ(parse_one("shl.b32 %r1, %r2, WARP_SZ;").operands[2].integer, 32);
  const Operand single = parse_one("mov.f32 %f1, 0f3F800000;").operands[1];
  EXPECT_EQ(single.kind, OperandKind::kFloat32);
  EXPECT_EQ(single.bits, 0x3F800000u);
  EXPECT_EQ(parse_one("mov.f32 %f1, -0f3F800000;").operands[1].bits, 0xBF800000u);
  const Operand decimal = parse_one("mov.f32 %f1, 1.5;").operands[1];
  EXPECT_EQ(decimal.kind, OperandKind::kFloat64);
  EXPECT_EQ(decimal.bits, 0x3FF8000000000000u);
}

TEST(Instruction, PairsSinksAndNegatedPredicates) {
  const Instruction shuffle = parse_one("shfl.sync.bfly.b32 %r1|%p1, %r2, 1, 31, -1;");
  EXPECT_EQ(shuffle.operands[0].name, "%r1");
  EXPECT_EQ(shuffle.operands[0].second, "%p1");
  const Instruction elect = parse_one("elect.sync _|%p1, -1;");
  EXPECT_EQ(elect.operands[0].kind, OperandKind::kSink);
  EXPECT_EQ(elect.operands[0].second, "%p1");
  EXPECT_EQ(parse_one("setp.lt.s32 %p1|_, %r1, %r2;").operands[0].second, "");
  EXPECT_TRUE(parse_one("setp.lt.and.s32 %p1, %r1, %r2, !%p2;").operands[3].negate);
  const Instruction unpack = parse_one("mov.b64 {%r1, _}, %d1;");
  EXPECT_EQ(unpack.operands[0].elements[1].kind, OperandKind::kSink);
}

TEST(Instruction, SpecialRegisters) {
  EXPECT_EQ(parse_one("mov.u32 %r1, %tid.x;").operands[1].name, "%tid.x");
  EXPECT_EQ(parse_one("mov.u32 %r1, %laneid;").operands[1].kind, OperandKind::kRegister);
  EXPECT_EQ(parse_one("mov.u32 %r1, %envreg31;").operands[1].name, "%envreg31");
}

TEST(Instruction, CallsInAllForms) {
  const std::string head = kHead +
                           ".func (.param .b32 r) f(.param .b32 a) { ret; }\n"
                           ".func g() { ret; }\n"
                           ".entry k() { .param .b32 r; .param .b32 a; .reg .b64 %d<2>;\n";
  const auto call = [&](const std::string& text) {
    return parse(head + text + " }").functions.at(2).body.at(0);
  };
  const Instruction full = call("call.uni (r), f, (a);");
  ASSERT_EQ(full.operands.size(), 3u);
  EXPECT_EQ(full.operands[0].elements[0].name, "r");
  EXPECT_EQ(full.operands[1].name, "f");
  EXPECT_EQ(full.operands[2].elements[0].name, "a");
  EXPECT_TRUE(call("call g;").operands[0].elements.empty());
  EXPECT_TRUE(call("call g, ();").operands[2].elements.empty());
  EXPECT_EQ(call("call f, (a);").operands[2].elements.size(), 1u);
  const Instruction indirect =
      call("call (r), %d1, (a), proto; proto: .callprototype (.param .b32 _) _ (.param .b32 _);");
  EXPECT_EQ(indirect.operands[1].kind, OperandKind::kRegister);
  EXPECT_EQ(indirect.operands[3].name, "proto");
}

TEST(Instruction, SourceLocations) {
  const Module module = parse(kHead +
                              ".file 1 \"sgemm.cu\"\n.file 2 \"a.h\", 17, 20\n.entry k() {\n"
                              ".reg .f32 %f<3>;\n.loc 1 12 3\nadd.f32 %f1, %f2, %f2;\n"
                              ".loc\t2 449 9, function_name $L__info_string0, inlined_at "
                              "1 14 2\nadd.f32 %f1, %f2, %f2;\nret;\n}\n"
                              ".section .debug_str\n{\n$L__info_string0:\n.b8 95\n}\n");
  EXPECT_EQ(module.files.at(1), "sgemm.cu");
  const Function& k = module.functions.at(0);
  EXPECT_EQ(k.body[0].source.file, 1);
  EXPECT_EQ(k.body[0].source.line, 12);
  EXPECT_EQ(k.body[1].source.file, 2);
  EXPECT_EQ(k.body[1].source.line, 449);
}

TEST(Instruction, UndeclaredNamesAreRefused) {
  for (const char* text : {"add.s32 %r1, %r2, %q7;", "bra nowhere;", "@%p9 bra L; L:",
                           "ld.shared.u32 %r1, [lost];", "mov.b64 {%r1, %r99}, %d1;"}) {
    EXPECT_THROW(parse_one(text), Fault) << text;
  }
}

TEST(Instruction, ErrorsShowThePlace) {
  const Fault fault =
      syntax_fault(kHead + ".entry k() {\n\t.reg .b32 %r<4>;\n\tadd.s32 %r1, %r2 %r3;\n}");
  EXPECT_EQ(fault.place().ptx_line, 6);
  EXPECT_STREQ(
      fault.what(),
      "';' was expected\n   add.s32 %r1, %r2 %r3;\n                    ^^^\n  at PTX line 6");
  EXPECT_EQ(syntax_fault(kHead + ".entry k() {\n").place().ptx_line, 5);
  EXPECT_EQ(syntax_fault(".target sm_90\n.entry k() { ret; }").place().ptx_line, 2);
}

}  // namespace
}  // namespace tessera::vgpu::ptx
