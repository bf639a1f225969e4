#include "sass/decode/operation.h"

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>

namespace tessera::sass {
namespace {

// As ptxas 13.0 wrote them, low half first.
std::string text_of(std::uint64_t low, std::uint64_t high, std::uint64_t offset = 0, int sm = 90) {
  return decode({low, high}, offset, sm).text;
}

std::string print(const std::vector<RegisterUse>& uses) {
  static constexpr const char* kPrefix[] = {"R", "UR", "P", "UP"};
  std::string text;
  for (const RegisterUse& use : uses) {
    text += (text.empty() ? "" : " ") + std::string(kPrefix[static_cast<int>(use.file)]) +
            std::to_string(use.first);
    if (use.count > 1) text += "x" + std::to_string(use.count);
    if (use.operand >= 0) text += ":" + std::string(1, static_cast<char>('a' + use.operand));
  }
  return text;
}

struct Example {
  std::uint64_t low, high;
  const char *text, *reads, *writes;
};

TEST(Operation, SaysWhatIsReadAndWritten) {
  const Example examples[] = {
      {0x000000160d0d7223, 0x000fe20000000000, "FFMA R13, R13, R22, R0", "R13:a R22:b R0:c", "R13"},
      {0x3f00000005057423, 0x000fe20000000005, "FFMA R5, R5, R5, 0.5", "R5:a R5:b", "R5"},
      {0x0000000800088221, 0x004fc80000000000, "@!P0 FADD R8, R0, R8", "P0 R0:a R8:c", "R8"},
      {0x0000000b0b0b7229, 0x000fe20000000010, "DADD R11, R11, R16", "R11x2:a R16x2:c", "R11x2"},
      {0x0000002b281c9225, 0x000fc800078e0016, "@!P1 IMAD.WIDE.U32 R28, R40, R43, R22",
       "P1 R40:a R43:b R22x2:c", "R28x2"},
      {0x000000ffff097224, 0x000fe200078e00ff, "IMAD.MOV.U32 R9, RZ, RZ, RZ", "", "R9"},
      {0x000000ff0700720c, 0x000fda0003f06300, "ISETP.GE.AND.EX P0, PT, R7, RZ, PT, P0", "R7:a P0",
       "P0"},
      {0x0000100c62203981, 0x000ea2000c1e1d00, "@P3 LDG.E.128 R32, desc[UR12][R98.64+0x10]",
       "P3 UR12x2 R98x2:a", "R32x4"},
      {0x0000040d0a009986, 0x000fe2000c101908, "@!P1 STG.E desc[UR8][R10.64+0x4], R13",
       "P1 UR8x2 R10x2:a R13:b", ""},
      {0x0000001c16007388, 0x020fe20000000c00, "STS.128 [R22], R28", "R22:a R28x4:b", ""},
      {0xfff8000502107984, 0x000ea20008000c00, "LDS.128 R16, [R2+UR5+-0x800]", "R2:a UR5", "R16x4"},
      {0x0020020008067fae, 0x000fe2000b921c46, "LDGSTS.E.128 [R6+0x200], desc[UR6][R8.64+0x200]",
       "R6:c UR6x2 R8x2:a", ""},
      {0x000100000010783b, 0x000e640000000200, "LDSM.16.M88.4 R16, [R0+0x100]", "R0:a", "R16x4"},
      {0x000000082030723f, 0x004e220000003030, "DMMA.16x8x16 R48, R32, R8, R48",
       "R32x16:a R8x8:b R48x8:c", "R48x8"},
      {0x00e00000081879f0, 0x000fe8000c7018ff, "HGMMA.64x64x16.F32.BF16 R24, gdesc[UR8], RZ, !UPT",
       "UR8x4", "R24x32"},
      {0x0000003f0700728c, 0x000fe4000bf24310, "UISETP.GT.AND.EX UP1, UPT, UR7, URZ, UPT, UP1",
       "UR7:a UP1", "UP1"},
      {0x00000008100075b4, 0x0003e20008008000, "UTMALDG.2D [UR8], [UR16]", "UR8x4 UR16x2", ""},
      {0x0000000506007804, 0x000fe20000000000, "R2P PR, R6, 0x5", "R6:a", "P0 P2"},
      {0x0000004006007804, 0x000fe20000001000, "R2P PR, R6.B1, 0x40", "R6:a", "P6"},
      {0x0000000306007884, 0x000fe20008000000, "UR2UP UPR, UR6, 0x3", "UR6:a", "UP0 UP1"},
      {0x000000000000794d, 0x000fe20001800000, "EXIT P3", "P3", ""},
      {0x000000000000794d, 0x000fe20005900000, "EXIT.KEEPREFCOUNT !P3", "P3", ""},
      {0x0000000302017248, 0x000fe20003fe1100, "VIMNMX.RELU R1, R2, R3, PT", "R2:a R3:b", "R1"},
      {0x0000000302017248, 0x000fe20003b40100, "VIMNMX R1, P2, P3, R2, R3, PT", "R2:a R3:b",
       "R1 P2 P3"},
      {0x0000000806047c0f, 0x000fe2000bfe010a, "VIMNMX3 R4, R6, UR8, R10, PT", "R6:a UR8:b R10:c",
       "R4"},
      {0xfffffff8060474a4, 0x000fe2000ffe020a, "UIMAD UR4, UR6, UR10, -0x8", "UR6:a UR10:b", "UR4"},
      {0x000000080604729b, 0x000fe20008000800, "UBMSK.W UR4, UR6, UR8", "UR6:a UR8:b", "UR4"},
      {0x000000080604789b, 0x000fe20008000000, "UBMSK UR4, UR6, 0x8", "UR6:a", "UR4"},
      {0x0000000806047411, 0x000fe20003ff180a, "LEA.HI R4, R6, R10, 0x8, 0x3", "R6:a R10:b", "R4"},
  };
  for (const Example& example : examples) {
    const Operation operation = decode({example.low, example.high}, 0, 90);
    EXPECT_EQ(operation.text, example.text);
    EXPECT_EQ(print(operation.reads), example.reads) << example.text;
    EXPECT_EQ(print(operation.writes), example.writes) << example.text;
    EXPECT_TRUE(operation.known);
  }
}

TEST(Operation, BranchesPrintWhereTheyLead) {
  EXPECT_EQ(text_of(0xfffffffc00741947, 0x000fea000383ffff, 2048), "@P1 BRA 0x5e0");
  EXPECT_EQ(text_of(0x0000002000207944, 0x000fea0003c00000, 0x1000), "CALL.REL.NOINC 0x3090");
  EXPECT_EQ(text_of(0x0000011000007945, 0x000fe40003800000, 0x4ff0), "BSSY B0, 0x5110");
}

// The number of the barrier and of its threads, from a register each or written out.
TEST(Operation, BarriersSayWhoMeetsWhere) {
  EXPECT_EQ(text_of(0x004000000000791d, 0x0011f00000010000), "BAR.SYNC.DEFER_BLOCKING 0x1, R0");
  EXPECT_EQ(text_of(0x000100030000751d, 0x002fe20000010000), "BAR.SYNC.DEFER_BLOCKING R3, 0x40");
  EXPECT_EQ(text_of(0x000000030000751d, 0x000ff00000010000), "BAR.SYNC.DEFER_BLOCKING R3");
  EXPECT_EQ(text_of(0x0081800000007b1d, 0x000ff00000010000), "BAR.SYNC.DEFER_BLOCKING 0x2, 0x60");
  EXPECT_EQ(text_of(0x00c000000000791d, 0x000fec0000002000), "BAR.ARV 0x3, R0");
}

TEST(Operation, ReuseIsPrintedByLogicalOperand) {
  // The flag of the third operand belongs to a sum's second register.
  EXPECT_EQ(text_of(0x0000000800088221, 0x104fc80000000000), "@!P0 FADD R8, R0, R8");
  EXPECT_EQ(text_of(0x0000000800087221, 0x100fe20000000000), "FADD R8, R0, R8.reuse");
  EXPECT_EQ(text_of(0x000000160d0d7223, 0x0c0fe20000000000), "FFMA R13, R13.reuse, R22.reuse, R0");
}

// Forms of older cards, as nvdisasm prints them: atomic additions with other encodings of types,
// and copies to shared memory at a uniform register.
TEST(Operation, FormsOfOlderCards) {
  EXPECT_EQ(text_of(0x000304413c00798e, 0x0003e20000114700, 0, 75),
            "RED.E.ADD.F32.FTZ.RN.STRONG.GPU [R60+0x304], R65");
  EXPECT_EQ(text_of(0x000008080a00798e, 0x000fe20001114b00, 0, 75),
            "RED.E.MAX.S64.STRONG.GPU [R10+0x8], R8");
  EXPECT_EQ(text_of(0x0c380380e4ca1dae, 0x0005e4000b900d48, 0, 80),
            "@P1 LDGSTS.E.BYPASS.LTC128B.128 [R202+UR8+0xc380], [R228.64+0x380]");
  const Operation sum = decode({0x000608505400798e, 0x0001e20000114d00}, 0, 75);
  EXPECT_EQ(sum.text, "RED.E.ADD.F64.RN.STRONG.GPU [R84+0x608], R80");
  EXPECT_EQ(print(sum.reads), "R84x2:a R80x2:b");
}

TEST(Operation, WhatTheTableLacksIsSaidToBeUnknown) {
  const Operation operation = decode({0x00000000000077fe, 0x000fe20000000000}, 0, 90);
  EXPECT_FALSE(operation.known);
  EXPECT_EQ(operation.name, "op_0x7fe");
  EXPECT_EQ(operation.timing, Timing::kControl);
}

// Damaged code, and modifiers that no compiler writes: some text comes out, and nothing else
// happens.
TEST(Operation, AnyBitsDecode) {
  std::mt19937_64 random(5);
  int known = 0;
  for (int i = 0; i < 200'000; ++i) {
    Instruction instruction{random(), random()};
    // Every other one under a key that exists.
    if (i % 2 == 0) instruction.low = (instruction.low & ~std::uint64_t{0x1FF}) | i / 2 % 0x200;
    const Operation operation = decode(instruction, 16 * static_cast<std::uint64_t>(i), 90);
    known += operation.known;
    ASSERT_FALSE(operation.text.empty());
    ASSERT_FALSE(operation.name.empty());
    for (const auto* uses : {&operation.reads, &operation.writes}) {
      for (const RegisterUse& use : *uses) {
        ASSERT_GE(use.first, 0);
        ASSERT_GE(use.count, 1);
      }
    }
  }
  EXPECT_GT(known, 5000);
}

TEST(Operation, TimingSaysWhoWaitsForWhat) {
  const auto timing = [](std::uint64_t low, std::uint64_t high, int sm) {
    return decode({low, high}, 0, sm).timing;
  };
  EXPECT_EQ(timing(0x7223, 0, 90), Timing::kFixed);     // FFMA
  EXPECT_EQ(timing(0x7984, 0, 90), Timing::kVariable);  // LDS
  EXPECT_EQ(timing(0x7947, 0, 90), Timing::kControl);   // BRA
  EXPECT_EQ(timing(0x722b, 0, 90), Timing::kFixed) << "DFMA of a full FP64 pipe";
  EXPECT_EQ(timing(0x722b, 0, 86), Timing::kVariable) << "DFMA of two lanes an SM";
}

TEST(Control, FieldsAreReadAndWrittenBack) {
  const Instruction ffma{0x000000160d0d7223, 0x044fe20000000000};
  const Control control = control_of(ffma);
  EXPECT_EQ(control.stall, 1);
  EXPECT_FALSE(control.yields);
  EXPECT_EQ(control.write_scoreboard, -1);
  EXPECT_EQ(control.read_scoreboard, -1);
  EXPECT_EQ(control.wait_mask, 0b000100u);
  EXPECT_EQ(control.reuse, 0b001u);

  const Instruction load{0x0000000015277984, 0x000e280000000800};
  EXPECT_EQ(control_of(load).write_scoreboard, 0);
  EXPECT_EQ(control_of(load).stall, 4);

  Control other{.stall = 7, .yields = true, .write_scoreboard = 5, .read_scoreboard = 2};
  other.wait_mask = 0x3F;
  const Instruction changed = with_control(ffma, other);
  EXPECT_EQ(control_of(changed).wait_mask, 0x3Fu);
  EXPECT_EQ(control_of(changed).read_scoreboard, 2);
  EXPECT_EQ(changed.low, ffma.low);
  EXPECT_EQ(with_control(changed, control).high, ffma.high);
}

TEST(Control, RefusesWhatTheHardwareLacks) {
  const Instruction ffma{0x000000160d0d7223, 0x000fe20000000000};
  const auto refused = [&](const Control& control) {
    EXPECT_THROW(with_control(ffma, control), std::invalid_argument);
  };
  refused({.stall = 12});
  refused({.stall = 0});
  refused({.stall = 16, .yields = true});
  refused({.stall = 1, .yields = true, .reuse = 1});
  refused({.stall = 1, .write_scoreboard = 6});
  refused({.stall = 1, .wait_mask = 0x40});
  EXPECT_NO_THROW(with_control(ffma, {.stall = 12, .yields = true}));
  EXPECT_NO_THROW(with_control(ffma, {.stall = 0, .yields = true}));
}

}  // namespace
}  // namespace tessera::sass
