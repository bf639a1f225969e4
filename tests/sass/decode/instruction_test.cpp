#include "sass/decode/instruction.h"

#include <gtest/gtest.h>

namespace tessera::sass {
namespace {

constexpr Instruction with_width(std::uint64_t low, std::uint64_t size) {
  return {low, size << (73 - 64)};
}

TEST(Instruction, BitsCrossTheMiddle) {
  const Instruction instruction{0x8000000000000001, 0x0000000000000005};
  EXPECT_EQ(instruction.bits(0, 1), 1u);
  EXPECT_EQ(instruction.bits(62, 4), 0b0110u);
  EXPECT_EQ(instruction.bits(63, 4), 0b1011u);
  EXPECT_EQ(instruction.bits(64, 64), 5u);
  EXPECT_EQ(instruction.bits(0, 64), 0x8000000000000001u);
}

TEST(Instruction, KeysTellOperandFormsApart) {
  EXPECT_EQ(name_of({0x000000160d0d7223, 0x004fe20000000000}), "FFMA");  // as ptxas 13.0 wrote it
  EXPECT_EQ(name_of({0x7823, 0}), "FFMA");
  EXPECT_EQ(name_of({0xc23, std::uint64_t{1} << (91 - 64)}), "FFMA");
  EXPECT_EQ(name_of({0xc23, 0}), "op_0xc23") << "this form exists with bit 91 alone";
  EXPECT_EQ(name_of({0x77fe, 0}), "op_0x7fe");
}

TEST(Instruction, MemoryInstructionsCarryTheirWidth) {
  const char* const names[] = {"LDS.8", "LDS.8", "LDS.16", "LDS.16", "LDS.32", "LDS.64", "LDS.128"};
  for (std::uint64_t size = 0; size < 7; ++size) {
    EXPECT_EQ(name_of(with_width(0x7984, size)), names[size]);
  }
  EXPECT_EQ(name_of(with_width(0x7388, 6)), "STS.128");
  EXPECT_EQ(name_of(with_width(0x7b1d, 6)), "BAR");
}

TEST(Instruction, GuardsThatNeverHold) {
  EXPECT_TRUE((Instruction{0x000000000000f984, 0}.never_runs()));   // @!PT LDS RZ, [RZ]
  EXPECT_FALSE((Instruction{0x0000000000007984, 0}.never_runs()));  // LDS
  EXPECT_FALSE((Instruction{0x0000000000008984, 0}.never_runs()));  // @!P0 LDS
}

// A branch by `units` of 4 bytes from the instruction behind it, in the fields of either
// generation.
Instruction branch(std::int64_t units, int sm) {
  std::uint64_t field = static_cast<std::uint64_t>(units), low = 0x7947;
  if (sm >= 90) {
    low |= (field & 0xFF) << 16;
    field = static_cast<std::uint64_t>(units >> 8);
  }
  return {low | field << 34, field >> 30 & 0x3FFFF};
}

TEST(Instruction, BranchesLeadForwardAndBackward) {
  for (const int sm : {75, 86, 90}) {
    for (const std::int64_t distance : {0, 16, 4096, -16, -32, -4096, -1'000'000, 1'000'000}) {
      EXPECT_EQ(branch_target(branch(distance / 4, sm), 2'000'000, sm), 2'000'016 + distance) << sm;
    }
  }
  EXPECT_EQ(branch_target({0x7223, 0}, 0, 90), std::nullopt);
  // As ptxas 13.0 wrote them for sm_90a: the end of a loop, and the branch to itself behind an
  // exit.
  EXPECT_EQ(branch_target({0xfffffffc00741947, 0x000fea000383ffff}, 2048, 90), 1504);
  EXPECT_EQ(branch_target({0xfffffffc00fc7947, 0x000fc0000383ffff}, 3136, 90), 3136);
}

// BRA.DIV UR6 of ptxas 13.0: taken if threads of the mask have diverged, so what follows is
// reached.
TEST(Instruction, BranchesOnDivergenceMayGoOn) {
  const Instruction diverges{0x000000e606447947, 0x000fea000b800000};
  EXPECT_EQ(branch_target(diverges, 0, 90), 0xe520);
  EXPECT_FALSE(diverges.always_runs());
  EXPECT_TRUE((Instruction{0xfffffffc00fc7947, 0x000fc0000383ffff}.always_runs()));
}

}  // namespace
}  // namespace tessera::sass
