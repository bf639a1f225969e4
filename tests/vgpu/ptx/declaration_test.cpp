// Variables of all spaces: what is declared, how large it is and which bytes it starts with.
#include "tests/vgpu/ptx/helpers.h"

namespace tessera::vgpu::ptx {
namespace {

std::vector<std::byte> bytes(std::initializer_list<int> values) {
  std::vector<std::byte> result;
  for (int value : values) result.push_back(static_cast<std::byte>(value));
  return result;
}

Variable module_variable(const std::string& text) { return parse(kHead + text).variables.at(0); }

TEST(Declaration, ModuleVariables) {
  const Variable tab = module_variable(".const .align 4 .b8 tab[5] = {1, 2, 255};");
  EXPECT_EQ(tab.space, Space::kConst);
  EXPECT_EQ(tab.align, 4);
  EXPECT_EQ(tab.count, 5u);
  EXPECT_EQ(tab.init, bytes({1, 2, 255, 0, 0}));

  const Variable smem = module_variable(".extern .shared .align 16 .b8 smem[];");
  EXPECT_TRUE(smem.is_extern);
  EXPECT_EQ(smem.count, 0u);
  EXPECT_EQ(smem.space, Space::kShared);

  EXPECT_EQ(module_variable(".visible .global .u32 grid[4][3][2];").count, 24u);
  EXPECT_EQ(module_variable(".global .attribute(.managed) .align 8 .f64 x;").align, 8);
}

TEST(Declaration, InitialValuesTakeTheElementType) {
  EXPECT_EQ(module_variable(".global .u16 x = 0x1234;").init, bytes({0x34, 0x12}));
  EXPECT_EQ(module_variable(".global .s32 x = -2;").init, bytes({0xFE, 0xFF, 0xFF, 0xFF}));
  EXPECT_EQ(module_variable(".global .f32 x = 0f3FC00000;").init, bytes({0, 0, 0xC0, 0x3F}));
  EXPECT_EQ(module_variable(".global .f32 x = 1.5;").init, bytes({0, 0, 0xC0, 0x3F}));
  EXPECT_EQ(module_variable(".global .f64 x[] = {-1.5};").init,
            bytes({0, 0, 0, 0, 0, 0, 0xF8, 0xBF}));
  EXPECT_EQ(module_variable(".global .u8 x[2][2] = {{1}, {2, 3}};").init, bytes({1, 2, 3, 0}));
  EXPECT_EQ(module_variable(".global .u8 x[2][3] = {{}, {2, 3}};").init, bytes({2, 3, 0, 0, 0, 0}));
  EXPECT_EQ(module_variable(".global .u8 x[2][2][2] = {{{1}, {2}}, {{3, 4}, {5}}};").init,
            bytes({1, 2, 3, 4, 5, 0, 0, 0}));
  EXPECT_EQ(module_variable(".global .u8 x[] = {7, 8, 9};").count, 3u);
}

TEST(Declaration, InitialValuesMayBeAddresses) {
  const Module module = parse(kHead + ".global .u32 x; .global .u64 p[3] = {x, 7, generic(x)+4};");
  const Variable& p = module.variables.at(1);
  ASSERT_EQ(p.addresses.size(), 2u);
  EXPECT_EQ(p.addresses[0].symbol, "x");
  EXPECT_EQ(p.addresses[1].offset, 16u);
  EXPECT_EQ(p.addresses[1].addend, 4);
  EXPECT_EQ(p.init[8], std::byte{7});
}

TEST(Declaration, WrongInitialValuesAreRefused) {
  EXPECT_EQ(syntax_fault(kHead + ".global .u8 x[2] = {1, 2, 3};").place().ptx_line, 4);
  EXPECT_EQ(syntax_fault(kHead + ".global .u8 x[2][2] = {{1, 2, 3}, {4}};").place().ptx_line, 4);
  EXPECT_EQ(syntax_fault(kHead + ".global .u8 x[2][2] = {{1}, {2}, {3}};").place().ptx_line, 4);
  EXPECT_EQ(syntax_fault(kHead + ".global .u8 x[2][2] = {1, 2};").place().ptx_line, 4);
  EXPECT_EQ(syntax_fault(kHead + ".global .u8 x[2][2] = {{1}, 2};").place().ptx_line, 4);
  EXPECT_EQ(syntax_fault(kHead + ".global .u8 x[4] = {{1}, 2};").place().ptx_line, 4);
  EXPECT_EQ(syntax_fault(kHead + ".global .u8 x[2] = 1;").place().ptx_line, 4);
  EXPECT_EQ(syntax_fault(kHead + ".global .u32 x = 1.5;").place().ptx_line, 4);
  EXPECT_EQ(syntax_fault(kHead + ".global .u8 x[999999999999] = {1};").place().ptx_line, 4);
  EXPECT_EQ(syntax_fault(kHead + ".global .u32 x = x;").place().ptx_line, 4);
  EXPECT_EQ(syntax_fault(kHead + ".global .u32 x; .global .u32 x;").place().ptx_line, 4);
}

TEST(Declaration, RegisterRanges) {
  const Function f = parse_entry_body(".reg .pred %p<2>; .reg .f32 %f<3>, a, b;");
  ASSERT_EQ(f.variables.size(), 7u);
  EXPECT_EQ(f.variables[1].name, "%p1");
  EXPECT_EQ(f.variables[1].type, (Type{TypeKind::kPred, 1}));
  EXPECT_EQ(f.variables[4].name, "%f2");
  EXPECT_EQ(f.variables[6].name, "b");
  EXPECT_EQ(f.variables[6].type, (Type{TypeKind::kFloat, 32}));
}

TEST(Declaration, VectorRegistersAreScalarsWithComponents) {
  const Function f =
      parse_entry_body(".reg .v2 .f32 v; .reg .f32 x; mov.f32 x, v.y; ld.global.v2.f32 v, [p];");
  EXPECT_EQ(variable_named(f, "v.y").type, (Type{TypeKind::kFloat, 32}));
  EXPECT_EQ(f.body[0].operands[1].name, "v.y");
  EXPECT_EQ(f.body[1].operands[0].kind, OperandKind::kVector);
  EXPECT_EQ(f.body[1].operands[0].elements[0].name, "v.x");
}

TEST(Declaration, Parameters) {
  const Module module = parse(kHead +
                              ".visible .entry k(\n.param .u64 .ptr .global .align 16 k_param_0,\n"
                              ".param .align 64 .b8 k_param_1[128]\n)\n.maxntid 16, 16, 1\n"
                              ".minnctapersm 2\n.pragma \"x\";\n.reqnctapercluster 2, 1, 1\n"
                              "{ ret; }");
  const Function& k = module.functions.at(0);
  ASSERT_EQ(k.params.size(), 2u);
  EXPECT_EQ(k.params[0].align, 0);  // .ptr .align speaks of what it points to
  EXPECT_EQ(k.params[0].type, (Type{TypeKind::kUnsigned, 64}));
  EXPECT_EQ(k.params[1].align, 64);
  EXPECT_EQ(k.params[1].count, 128u);
  EXPECT_EQ(k.max_threads, 256);
  EXPECT_EQ(k.required_threads, 0);
}

TEST(Declaration, FunctionsInAllForms) {
  const Module module =
      parse(kHead +
            ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
            ".func (.param .b32 out) f(.param .b32 in)\n;\n"
            ".func .noreturn stop() { trap; }\n"
            ".func (.reg .u32 r) g(.reg .u32 a, .reg .u32 b) { add.u32 r, a, b; ret; }\n"
            ".weak .func (.param .b32 out) f(.param .b32 in) { ret; }\n"
            ".func plain { ret; }\n");
  ASSERT_EQ(module.functions.size(), 5u);
  EXPECT_FALSE(module.functions[0].has_body);
  EXPECT_EQ(module.functions[1].name, "f");
  EXPECT_TRUE(module.functions[1].has_body);  // declared, then defined: one function
  EXPECT_EQ(module.functions[3].params[1].space, Space::kRegister);
  EXPECT_EQ(module.functions[3].body[0].operands[0].kind, OperandKind::kRegister);
  EXPECT_FALSE(module.functions[4].is_entry);
}

}  // namespace
}  // namespace tessera::vgpu::ptx
