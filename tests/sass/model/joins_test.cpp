// Where two ways meet, and where guards decide: what either of them leaves open is open: the later
// write, and the load that fewer others have followed.
#include <gtest/gtest.h>

#include "sass/model/hazards.h"
#include "sass/rewrite/encode.h"
#include "tests/sass/programs.h"

namespace tessera::sass {
namespace {

using Code = std::vector<Instruction>;

constexpr Instruction kExit = {0x000000000000794d, 0x000fea0003800000};

// `before`, then under P1 one way or the other, then `after`.
std::vector<Hazard> hazards_at_the_end(const Code& before, const Code& first_way,
                                       const Code& second_way, const Code& after) {
  Code code = before;
  const auto here = [&] { return static_cast<std::int64_t>(16 * code.size()); };
  const auto bytes_of = [](const Code& way) { return static_cast<std::int64_t>(16 * way.size()); };
  code.push_back(guarded(bra(here(), here() + 32 + bytes_of(first_way)), 1));
  code.insert(code.end(), first_way.begin(), first_way.end());
  code.push_back(bra(here(), here() + 16 + bytes_of(second_way)));
  for (const Code& part : {second_way, after, Code{kExit}}) {
    code.insert(code.end(), part.begin(), part.end());
  }
  CubinKernel kernel;
  kernel.name = "joined";
  kernel.code = code;
  const Program program = program_of(kernel, 90);
  EXPECT_EQ(program.blocks.size(), 4u);
  return find_hazards(program);
}

// A sum of FP32 numbers is there after four cycles; the branch behind the first way alone takes
// them.
TEST(Joins, TheShorterWayCounts) {
  const Code write = {with_control(fadd(0, 2, 2), {.stall = 1})};
  const Code read = {with_control(fadd(16, 0, 0), {.stall = 5})};
  const Code quick = {with_control(nop(), {.stall = 1})},
             slow = {with_control(nop(), {.stall = 9})};
  EXPECT_TRUE(hazards_at_the_end(write, slow, slow, read).empty());
  EXPECT_FALSE(hazards_at_the_end(write, slow, quick, read).empty());
}

// A wait for all loads but the last one is enough where another load has come later.
TEST(Joins, TheFewerLaterLoadsCount) {
  const auto load = [](int reg) {
    return with_control(lds(32, reg, 8, 0), {.stall = 2, .write_scoreboard = 0});
  };
  // DEPBAR.LE SB0, 1
  Instruction wait = nop();
  wait.low =
      (wait.low & ~std::uint64_t{0xfff}) | 0x91a | std::uint64_t{1} << 38 | std::uint64_t{1} << 47;
  const Code end = {with_control(wait, {.stall = 4, .yields = true}),
                    with_control(fadd(16, 0, 0), {.stall = 5})};
  const Code another = {load(4)}, none = {with_control(nop(), {.stall = 2})};
  EXPECT_TRUE(hazards_at_the_end({load(0)}, another, another, end).empty());
  EXPECT_FALSE(hazards_at_the_end({load(0)}, another, none, end).empty());
  EXPECT_FALSE(hazards_at_the_end({load(0)}, none, another, end).empty());
}

// A load and a sum that reads its result without a wait: under one guard both run, under a guard
// and its opposite only one of them does.
TEST(Guards, ThatAreTheSameDoNotExcludeEachOther) {
  const auto hazards = [](std::uint64_t opposite) {
    Instruction read = guarded(with_control(fadd(16, 0, 0), {.stall = 5}), 0);
    read.low ^= opposite << 15;
    CubinKernel kernel;
    kernel.name = "guarded";
    kernel.code = {guarded(with_control(lds(32, 0, 8, 0), {.stall = 2, .write_scoreboard = 0}), 0),
                   read, kExit};
    return find_hazards(program_of(kernel, 90));
  };
  EXPECT_FALSE(hazards(0).empty());
  EXPECT_TRUE(hazards(1).empty());
}

}  // namespace
}  // namespace tessera::sass
