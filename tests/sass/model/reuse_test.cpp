#include "sass/model/reuse.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sass/model/hazards.h"
#include "sass/rewrite/encode.h"
#include "tests/sass/handmade.h"
#include "tests/sass/programs.h"

namespace tessera::sass {
namespace {

using handmade::ffma;
using handmade::load;
using handmade::nop;

constexpr unsigned kA = 1, kB = 2, kC = 4;

TEST(Reuse, CodesThatTheHardwareHas) {
  for (int stall = 1; stall <= 11; ++stall) {
    EXPECT_EQ(illegal_control({.control = {.stall = stall, .reuse = kA}}), "") << stall;
  }
  EXPECT_EQ(illegal_control({.control = {.stall = 15, .yields = true}}), "");
  EXPECT_EQ(illegal_control({.control = {.stall = 0, .yields = true}}), "");
  EXPECT_NE(illegal_control({.control = {.stall = 12}}), "");
  EXPECT_NE(illegal_control({.control = {.stall = 0}}), "");
  EXPECT_NE(illegal_control({.control = {.stall = 16, .yields = true}}), "");
  EXPECT_NE(illegal_control({.control = {.stall = 4, .yields = true, .reuse = kA}}), "");
  EXPECT_NE(illegal_control({.control = {.stall = 4, .yields = true, .batch = kA}}), "");
  EXPECT_EQ(
      illegal_control({.name = "DEPBAR", .control = {.stall = 4, .yields = true, .batch = kA}}),
      "");
}

std::size_t faults(std::vector<Operation> code) { return check_reuse(code).size(); }

TEST(Reuse, StaleValuesAreFound) {
  EXPECT_EQ(faults({ffma(4, 9, 10, 4, kA), ffma(5, 9, 10, 5)}), 0u);
  EXPECT_EQ(faults({ffma(4, 9, 10, 4, kC), ffma(5, 9, 10, 4)}), 1u) << "its own result";
  EXPECT_EQ(faults({ffma(4, 9, 10, 4, kA), load(8, 4, 2), ffma(5, 9, 10, 5)}), 1u);
  EXPECT_EQ(faults({ffma(4, 9, 10, 4, kA), load(8, 4, 2), ffma(5, 11, 10, 5), ffma(5, 9, 1, 5)}),
            0u)
      << "another read of the slot ended the entry";
  EXPECT_EQ(faults({ffma(4, 9, 10, 4, kA), ffma(9, 2, 10, 5), ffma(5, 3, 9, 5)}), 0u)
      << "the new value is read through another slot";
  EXPECT_EQ(faults({ffma(4, 9, 10, 4, kA), nop()}), 0u) << "kept for nobody";
}

TEST(Reuse, FlagsBelongToRegisters) {
  Operation immediate = ffma(4, 9, 10, 4, kB);
  immediate.reads.erase(immediate.reads.begin() + 1);
  EXPECT_EQ(faults({immediate}), 1u);
}

TEST(Reuse, FlagsFromScratch) {
  const std::vector<Operation> code = {ffma(4, 9, 10, 4), ffma(5, 9, 11, 5), ffma(6, 9, 10, 6),
                                       ffma(9, 9, 10, 7), ffma(8, 9, 10, 9)};
  // R10 and R11 lie in different banks: B keeps R10 over the second instruction. R9 is written by
  // the fourth, so the fifth reads it anew.
  EXPECT_EQ(profitable_reuse(code, std::vector<bool>(5, true)),
            (std::vector<unsigned>{kA | kB, kA, kA | kB, kB, 0}));
  EXPECT_EQ(profitable_reuse(code, {true, false, true, true, true}),
            (std::vector<unsigned>{kA | kB, 0, kA | kB, kB, 0}));
}

// Whether the last of some instructions reads R1 stale. The first one keeps it.
bool reads_stale_r1(std::vector<Instruction> between) {
  const Instruction keeps = sass::ffma(16, 4, 1, 6), reads = sass::ffma(17, 5, 1, 7);
  CubinKernel kernel;
  kernel.name = "row";
  kernel.code = std::move(between);
  kernel.code.insert(kernel.code.begin(), with_control(keeps, {.stall = 5, .reuse = kB}));
  const std::size_t last = kernel.code.size();
  kernel.code.push_back(with_control(reads, {.stall = 5, .wait_mask = 1}));
  kernel.code.push_back({0x000000000000794d, 0x000fea0003800000});  // EXIT
  const std::vector<Hazard> hazards = find_hazards(program_of(kernel, 90));
  return std::ranges::any_of(hazards, [&](const Hazard& hazard) {
    return hazard.at == last && hazard.reason.starts_with("R1 comes from the reuse cache");
  });
}

TEST(Reuse, WhatWasKeptStaysStale) {
  const Instruction one = with_control(mov_immediate(1, 0), {.stall = 6});
  const Instruction other = with_control(mov_immediate(20, 0), {.stall = 6});
  EXPECT_FALSE(reads_stale_r1({other}));
  EXPECT_TRUE(reads_stale_r1({one}));
  EXPECT_TRUE(reads_stale_r1({one, other}));
}

// A loop that ends at its head: what its body leaves in the cache comes out there.
TEST(Reuse, WhatALoopKeepsIsKnownAfterIt) {
  CubinKernel kernel;
  kernel.name = "loop";
  kernel.code = {guarded(bra(0, 64), 1),
                 with_control(sass::ffma(16, 4, 1, 6), {.stall = 5, .reuse = kB}),
                 with_control(mov_immediate(1, 0), {.stall = 6}),
                 bra(48, 0),
                 with_control(sass::ffma(17, 5, 1, 7), {.stall = 5}),
                 {0x000000000000794d, 0x000fea0003800000}};  // EXIT
  const std::vector<Hazard> hazards = find_hazards(program_of(kernel, 90));
  EXPECT_TRUE(std::ranges::any_of(hazards, [](const Hazard& hazard) {
    return hazard.at == 4 && hazard.reason.starts_with("R1 comes from the reuse cache");
  }));
}

TEST(Reuse, EveryRegisterOfATupleBecomesStale) {
  const auto loaded = [](int reg) {
    return with_control(lds(64, reg, 8, 0), {.stall = 2, .write_scoreboard = 0});
  };
  EXPECT_TRUE(reads_stale_r1({loaded(0)}));
  EXPECT_FALSE(reads_stale_r1({loaded(2)}));
}

TEST(Reuse, FlagsFromScratchAreLegal) {
  std::vector<Operation> code;
  for (int i = 0; i < 500; ++i) {
    code.push_back(ffma(i * 7 % 13, i * 5 % 13, i * 3 % 13, i * 11 % 13));
  }
  const auto flags = profitable_reuse(code, std::vector<bool>(code.size(), true));
  for (std::size_t i = 0; i < code.size(); ++i) code[i].control.reuse = flags[i];
  EXPECT_EQ(faults(code), 0u);
}

}  // namespace
}  // namespace tessera::sass
