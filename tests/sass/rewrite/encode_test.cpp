#include "sass/rewrite/encode.h"

#include <gtest/gtest.h>

#include <string>

namespace tessera::sass {
namespace {

struct Row {
  Instruction made;
  std::uint64_t low, high;  // of ptxas 13.0 for sm_90a, its control field included
  const char* text;
};

Instruction without_control(Instruction instruction) {
  constexpr std::uint64_t kField = ((std::uint64_t{1} << 21) - 1) << (105 - 64);
  instruction.high &= ~kField;
  return instruction;
}

const Row kRows[] = {
    {ffma(13, 6, 7, 11), 0x00000007060d7223, 0x001fe2000000000b, "FFMA R13, R6, R7, R11"},
    {ffma_uniform(13, 10, 5, 13), 0x000000050a0d7c23, 0x002fd8000800000d,
     "FFMA R13, R10, UR5, R13"},
    {fmul(13, 0, 11), 0x0000000b000d7220, 0x008fd40000400000, "FMUL R13, R0, R11"},
    {fadd(13, 13, 6), 0x000000060d0d7221, 0x000fe20000000000, "FADD R13, R13, R6"},
    {imad(10, 6, 7, 9), 0x00000007060a7224, 0x010fc400078e0209, "IMAD R10, R6, R7, R9"},
    {imad_immediate(4, 0, 12, 9), 0x0000000c00047824, 0x000fc600078e0209, "IMAD R4, R0, 0xc, R9"},
    {iadd3(9, 4, 9, 0), 0x0000000904097210, 0x000fe40007ffe000, "IADD3 R9, R4, R9, R0"},
    {iadd3_immediate(16, 16, ~0U, kZeroRegister), 0xffffffff10107810, 0x000fe20007ffe0ff,
     "IADD3 R16, R16, -0x1, RZ"},
    {mov_uniform_immediate(4, 0x400), 0x0000040000047882, 0x000fcc0000000000, "UMOV UR4, 0x400"},
    {isetp_not_equal(1, 16, kZeroRegister), 0x000000ff1000720c, 0x000fe20003f25270,
     "ISETP.NE.AND P1, PT, R16, RZ, PT"},
    {isetp_greater(0, 0, 127), 0x0000007f0000780c, 0x040fe20003f04270,
     "ISETP.GT.AND P0, PT, R0, 0x7f, PT"},
    {lds(32, 10, 10, 0x38), 0x000038000a0a7984, 0x000e620000000800, "LDS R10, [R10+0x38]"},
    {lds(128, 4, 4, 0), 0x0000000004047984, 0x000e280000000c00, "LDS.128 R4, [R4]"},
    {sts(32, 5, 0, 6), 0x0000000605007388, 0x000fe40000000800, "STS [R5], R6"},
    {ldc(1, 0x28), 0x00000a00ff017b82, 0x000fe20000000800, "LDC R1, c[0x0][0x28]"},
    {s2r(0, SpecialRegister::kThread), 0x0000000000007919, 0x000e2e0000002100, "S2R R0, SR_TID.X"},
    {s2r(9, SpecialRegister::kLane), 0x0000000000097919, 0x000ea20000000000, "S2R R9, SR_LANEID"},
    {guarded(bra(0x260, 0x200), 1), 0xfffffffc00e41947, 0x000fea000383ffff, "@P1 BRA 0x200"},
    {nop(), 0x0000000000007918, 0x000fc00000000000, "NOP"}};

TEST(Encode, WritesTheBytesOfPtxas) {
  for (const Row& row : kRows) {
    const Instruction expected = without_control({row.low, row.high});
    const Instruction made = without_control(row.made);
    EXPECT_EQ(made.low, expected.low) << row.text;
    EXPECT_EQ(made.high, expected.high) << row.text;
  }
}

TEST(Encode, ReadsBackAsWhatWasMeant) {
  for (const Row& row : kRows) {
    const std::uint64_t offset = std::string(row.text).find("BRA") != std::string::npos ? 0x260 : 0;
    EXPECT_EQ(decode(row.made, offset, 90).text, row.text);
  }
}

// Forms of which ptxas gave no sample: an immediate with all its bits, moves, other widths.
TEST(Encode, DecodesOtherFormsToo) {
  const auto text = [](const Instruction& instruction) { return decode(instruction, 0, 90).text; };
  EXPECT_EQ(text(mov(7, 9)), "MOV R7, R9");
  EXPECT_EQ(text(mov_immediate(7, 0x400)), "MOV R7, 0x400");
  EXPECT_EQ(text(lds(64, 8, kZeroRegister, 0x408)), "LDS.64 R8, [RZ+0x408]");
  EXPECT_EQ(text(sts(32, 5, 0x10, 6)), "STS [R5+0x10], R6");
  EXPECT_EQ(text(guarded(mov(7, 9), 3)), "@P3 MOV R7, R9");
  const Operation fma = decode(ffma_constant(3, 4, 0x210, 5), 0, 90);
  EXPECT_EQ(fma.text, "FFMA R3, R4, c[0x0][0x210], R5");
}

TEST(Encode, BranchesLeadWhereTheyWereTold) {
  for (const std::int64_t to : {0, 16, 0x1230, 0x41000, 0x7ffff0}) {
    for (const std::int64_t from : {0, 0x100, 0x41000}) {
      EXPECT_EQ(branch_target(bra(from, to), static_cast<std::uint64_t>(from), 90), to);
    }
  }
}

TEST(Encode, RefusesRegistersThatDoNotExist) {
  EXPECT_THROW(ffma(256, 0, 0, 0), std::invalid_argument);
  EXPECT_THROW(ffma(0, 0, -1, 0), std::invalid_argument);
}

}  // namespace
}  // namespace tessera::sass
