// Code that compilers write and to which the hazard checker objected once, as short rows of their
// instructions, each next to a row with a mistake.
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "sass/model/hazards.h"
#include "sass/rewrite/encode.h"

namespace tessera::sass {
namespace {

using Code = std::vector<Instruction>;
using Places = std::set<std::size_t>;

constexpr Instruction kExit = {0x000000000000794d, 0x000fea0003800000};

Program program_of_code(int sm, Code code) {
  CubinKernel kernel;
  kernel.name = "compiled";
  kernel.code = std::move(code);
  return program_of(kernel, sm);
}

Places hazards_at(int sm, Code code) {
  const Program program = program_of_code(sm, std::move(code));
  Places places;
  for (const Hazard& hazard : find_hazards(program)) places.insert(hazard.at);
  return places;
}

// CALL.REL.NOINC from the first instruction of a kernel.
Instruction call(std::int64_t to) {
  Instruction instruction = bra(0, to);
  instruction.low = (instruction.low & ~std::uint64_t{0xfff}) | 0x944;
  return with_control(instruction, {.stall = 5});
}
// RET.REL.NODEC R20 0x0, under a guard where `guard` is a predicate.
Instruction returns(std::uint64_t guard = 7) {
  return {0x0950 | guard << 12 | std::uint64_t{20} << 24, 0x000fea0003c3ffff};
}

// A subroutine that returns early for some threads goes on for the others.
TEST(CompiledCode, AGuardedReturnGoesOnToo) {
  const Instruction load = with_control(lds(32, 0, 8, 0), {.stall = 2, .write_scoreboard = 0});
  const Instruction read = with_control(fadd(16, 0, 0), {.stall = 5});
  const Instruction waits = with_control(fadd(16, 0, 0), {.stall = 5, .wait_mask = 1});
  EXPECT_EQ(decode(call(32), 0, 90).text, "CALL.REL.NOINC 0x20");
  EXPECT_EQ(decode(returns(0), 0, 90).text.substr(0, 7), "@P0 RET");
  const auto code = [&](const Instruction& last) {
    return Code{call(32), kExit, load, returns(0), last, returns()};
  };
  EXPECT_EQ(unreached_code(program_of_code(90, code(waits))), 6u);
  EXPECT_EQ(hazards_at(90, code(waits)), Places{});
  EXPECT_EQ(hazards_at(90, code(read)), Places{4});
}

// sm_75 adds a uniform register to one of 32 bits, which needs no partner.
TEST(CompiledCode, AnAddressOf32BitsIsOneRegister) {
  constexpr Instruction kLoad = {0x0000000411007981, 0x000ea800081f4900};
  const Operation load = decode(kLoad, 0, 75);
  EXPECT_EQ(load.text, "LDG.E.STRONG.GPU R0, [R17.U32+UR4]");
  ASSERT_EQ(load.reads.size(), 2u);
  EXPECT_EQ(load.reads[1].first, 17);
  EXPECT_EQ(load.reads[1].count, 1);
  EXPECT_EQ(hazards_at(75, {kLoad, kExit}), Places{});
  Instruction pair = kLoad;
  pair.high |= std::uint64_t{1} << (90 - 64);
  EXPECT_EQ(decode(pair, 0, 75).text, "LDG.E.STRONG.GPU R0, [R17.64+UR4]");
  EXPECT_EQ(hazards_at(75, {pair, kExit}), Places{0});
}

TEST(CompiledCode, RareFormsAreKnown) {
  const Operation space = decode({0x00000006ffff79aa, 0x000e24000c000500}, 0, 75);
  EXPECT_EQ(space.text, "QSPC.E.S P0, RZ, [UR6]");
  const Operation sleep = decode({0x000000420000735d, 0x000fea0003800000}, 0, 75);
  EXPECT_EQ(sleep.text, "NANOSLEEP R66");
  ASSERT_EQ(sleep.reads.size(), 1u);
  EXPECT_EQ(sleep.reads[0].first, 66);
}

}  // namespace
}  // namespace tessera::sass
