// The port model against what was measured and published on real GPUs.
#include "sass/model/ports.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/sass/handmade.h"

namespace tessera::sass {
namespace {

using namespace handmade;

constexpr unsigned kA = 1, kB = 2, kC = 4;

double bubbles_of_listing(int x, int y) {
  const std::vector<Operation> code = {ffma(11, 10, 12, 14), ffma(13, 16, x, y), nop()};
  return ports_of_sequence(code).bubbles;
}

// MICRO 2025, listing 1: the second instruction's sources decide how long it waits.
TEST(Ports, TwoInstructionsAsMeasured) {
  EXPECT_EQ(bubbles_of_listing(19, 21), 0);
  EXPECT_EQ(bubbles_of_listing(18, 21), 1);
  EXPECT_EQ(bubbles_of_listing(18, 20), 2);
}

// A stream of FFMAs with two common sources. A GA104 ran it at 55 % of its peak without reuse and
// at 95 % with: the model's losses are the smaller ones.
TEST(Ports, StreamWithTwoCommonSources) {
  std::vector<Operation> plain, reused;
  for (int d = 4; d < 8; ++d) {
    plain.push_back(ffma(d, 9, 10, d));
    reused.push_back(ffma(d, 9, 10, d, kA | kB));
  }
  EXPECT_NEAR(4 / ports_of_loop(plain).cycles, 0.67, 0.005);
  EXPECT_EQ(ports_of_loop(plain).reads_per_ffma(), 3);
  EXPECT_EQ(ports_of_loop(reused).cycles, 4);
  EXPECT_EQ(ports_of_loop(reused).reads_per_ffma(), 1);
}

TEST(Ports, SteadyStateIsTheBusiestBank) {
  // Three even sources each: 3 cycles; two even ones and an odd one: 2.
  EXPECT_EQ(ports_of_loop(std::vector<Operation>{ffma(1, 2, 4, 6)}).cycles, 3);
  EXPECT_EQ(ports_of_loop(std::vector<Operation>{ffma(1, 2, 4, 7)}).cycles, 2);
  EXPECT_EQ(ports_of_loop(std::vector<Operation>{ffma(1, 2, 2, 7)}).cycles, 1) << "R2 once";
  const PortUse two = ports_of_loop(std::vector<Operation>{ffma(1, 2, 4, 7), ffma(3, 5, 7, 8)});
  EXPECT_EQ(two.cycles, 3) << "3 reads of each bank by two instructions";
  EXPECT_EQ(two.bubbles, 1);
}

TEST(Ports, AnFfmaOfTwoCyclesLeavesThePortsASecondOne) {
  const PortRules turing = rules_of(75);
  const auto use_of = [&](std::vector<Operation> body) { return ports_of_loop(body, turing); };
  EXPECT_EQ(use_of({ffma(1, 2, 4, 7)}).cycles, 2) << "two in one bank, in two cycles";
  EXPECT_EQ(use_of({ffma(1, 2, 4, 6)}).cycles, 3) << "three in one bank";
  EXPECT_EQ(use_of({ffma(1, 2, 4, 6)}).bubbles, 1);
  EXPECT_EQ(use_of({ffma(1, 2, 4, 6), ffma(3, 5, 7, 9)}).cycles, 4) << "3 reads of 4 cycles each";
  EXPECT_EQ(use_of({ffma(1, 2, 4, 7), nop(), ffma(3, 5, 8, 10), nop()}).cycles, 4);
  EXPECT_EQ(use_of({ffma(1, 2, 4, 7), nop(), nop(), nop()}).cycles, 4) << "slots, not the pipe";
  const std::vector<Operation> two = {ffma(1, 2, 5, 7), ffma(3, 5, 8, 9)};
  EXPECT_EQ(ports_of_sequence(two, turing).cycles, 4) << "the pipe takes the last one, too";
  EXPECT_EQ(rules_of(80).ffma_cycles, 2);
  EXPECT_EQ(rules_of(86).ffma_cycles, 1);
  EXPECT_EQ(rules_of(90).ffma_cycles, 1);
}

TEST(Ports, WhatEndsAnEntryOfTheReuseCache) {
  const auto reads = [](std::vector<Operation> code) {
    code.push_back(ffma(30, 2, 5, 7));  // A = R2 again
    return ports_of_sequence(code).reads;
  };
  const Operation keep = ffma(30, 2, 3, 4, kA);
  EXPECT_EQ(reads({keep}), 3 + 2);
  EXPECT_EQ(reads({ffma(30, 2, 3, 4)}), 3 + 3) << "no flag";
  EXPECT_EQ(reads({ffma(30, 3, 2, 4, kB)}), 3 + 3) << "another slot";
  EXPECT_EQ(reads({keep, ffma(30, 3, 9, 11)}), 3 + 3 + 2) << "a read of the other bank";
  EXPECT_EQ(reads({keep, ffma(30, 6, 9, 11)}), 3 + 3 + 3) << "a read of its bank and slot";
  EXPECT_EQ(reads({keep, ffma(30, 2, 9, 11)}), 3 + 2 + 3) << "a hit without a flag";
  EXPECT_EQ(reads({keep, ffma(30, 2, 9, 11, kA)}), 3 + 2 + 2) << "a hit with a flag";
  EXPECT_EQ(reads({keep, nop()}), 3 + 2);
}

// Crowded or not is a matter of one instruction's reads, bubbles one of the window around it.
TEST(Ports, CrowdedFfmasAreCountedWithAndWithoutABubble) {
  const auto use_of = [](std::vector<Operation> body) { return ports_of_loop(body); };
  const Operation easy = ffma(1, 3, 8, 3, kA | kC);  // reads R8 alone once R3 is kept
  EXPECT_EQ(use_of({easy}).crowded, 0);
  // Two cycles hand out two registers of a bank.
  const auto crowded_on_turing = [](const Operation& one) {
    return ports_of_sequence(std::vector{one}, rules_of(75)).crowded;
  };
  EXPECT_EQ(crowded_on_turing(ffma(1, 2, 4, 7)), 0);
  EXPECT_EQ(crowded_on_turing(ffma(1, 2, 4, 6)), 1);
  EXPECT_EQ(use_of({ffma(1, 2, 4, 7)}).crowded, 1);
  EXPECT_EQ(use_of({ffma(1, 2, 4, 7)}).bubbles, 1);
  const PortUse forgiven = use_of({ffma(1, 2, 4, 7), nop()});
  EXPECT_EQ(forgiven.crowded, 1);
  EXPECT_EQ(forgiven.bubbles, 0) << "the window has room behind it";
  EXPECT_EQ(use_of({ffma(1, 3, 5, 8)}).crowded, 1) << "the odd bank";
  EXPECT_EQ(use_of({ffma(1, 2, 2, 7)}).crowded, 0) << "R2 is read once";
  const Operation keeps = ffma(1, 2, 4, 7, kA), hits = ffma(3, 2, 8, 9, kA);
  EXPECT_EQ(use_of({keeps, hits}).crowded, 0) << "R2 is kept round the loop";
  EXPECT_EQ(use_of({keeps, hits, ffma(5, 10, 12, 11)}).crowded, 2) << "R2 is read anew";
}

TEST(Ports, OneRegisterInTwoSlotsIsReadOnce) {
  EXPECT_EQ(ports_of_loop(std::vector<Operation>{ffma(1, 2, 2, 6)}).cycles, 2);
  EXPECT_EQ(ports_of_loop(std::vector<Operation>{ffma(1, 2, 2, 2)}).cycles, 1);
}

TEST(Ports, AYieldCostsAWarpThatIsAloneASecondCycle) {
  Operation yields = ffma(1, 2, 3, 5);
  yields.control = {.stall = 1, .yields = true};
  EXPECT_EQ(ports_of_loop(std::vector<Operation>{yields}, {.stalls_are_filled = false}).cycles, 2);
}

TEST(Ports, RulesCanBeChanged) {
  const std::vector<Operation> body = {ffma(1, 2, 4, 6, kC), load(8, 4, 10)};
  // The same with memory's reads at the ports of arithmetic.
  const auto cycles = [&](PortRules rules) {
    rules.only_fixed_latency = false;
    return ports_of_loop(body, rules).cycles;
  };
  EXPECT_EQ(cycles({}), 3) << "R6 is kept";
  EXPECT_EQ(cycles({.reuse = false}), 4);
  EXPECT_EQ(ports_of_loop(body).cycles, 2) << "a load reads its address elsewhere";
  EXPECT_EQ(cycles({.reads_per_cycle = 2}), 2);
  EXPECT_EQ(cycles({.banks = 1, .reuse = false}), 4);
  std::vector<Operation> slow = body;
  slow[1].control.stall = 5;
  EXPECT_EQ(ports_of_loop(slow).cycles, 2) << "other warps fill the stall";
  EXPECT_EQ(ports_of_loop(slow, {.stalls_are_filled = false}).cycles, 6);
  slow[0].control = {.stall = 1, .yields = true, .reuse = kC};
  EXPECT_EQ(ports_of_loop(slow, {.yield_clears = true}).reads, 3);
  EXPECT_EQ(ports_of_loop(slow).reads, 2) << "a yield clears nothing by itself";
  EXPECT_EQ(ports_of_loop(body, {.yield_clears = true}).reads, 2) << "nobody yields";
  EXPECT_THROW(cycles({.banks = 5}), std::invalid_argument);
  EXPECT_THROW(cycles({.window = 0}), std::invalid_argument);
}

TEST(Ports, WideOperandsAndOtherRegisterFiles) {
  Operation wide = ffma(4, 6, 8, 10);
  wide.reads = {{RegisterFile::kGeneral, 6, 2, 0}, {RegisterFile::kUniform, 4, 1, 1}};
  EXPECT_EQ(ports_of_sequence(std::vector<Operation>{wide}).reads, 2);
  wide.reads = {{RegisterFile::kGeneral, 8, 16, 0}};
  EXPECT_EQ(ports_of_loop(std::vector<Operation>{wide}).cycles, 8) << "8 reads of each bank";
}

// The pattern of CUTLASS: blocks of 2 x 2 walked so that each instruction reads one operand anew.
TEST(Ports, BlocksOfTwoByTwoLoseNothing) {
  std::vector<Operation> code;
  int accumulator = 41;
  for (int column = 0; column < 8; column += 2) {
    for (int step = 0; step < 8; step += 2) {
      const int row = column % 4 == 0 ? step : 6 - step;
      const int a = 8 + row, b = 16 + column;
      const unsigned keep = kA | kB;
      code.push_back(ffma(accumulator, a, b, accumulator, keep));
      code.push_back(ffma(accumulator + 1, a + 1, b, accumulator + 1, keep));
      code.push_back(ffma(accumulator + 3, a + 1, b + 1, accumulator + 3, keep));
      code.push_back(ffma(accumulator + 2, a, b + 1, accumulator + 2, keep));
      accumulator += 4;
    }
  }
  const PortUse use = ports_of_loop(code);
  EXPECT_EQ(use.bubbles, 0);
  EXPECT_NEAR(use.reads_per_ffma(), 1.5, 0.1);
  for (Operation& operation : code) operation.control.reuse = 0;
  EXPECT_EQ(ports_of_loop(code).cycles, 64 * 1.5);
}

TEST(Ports, BubblesStandWhereTheInstructionWaits) {
  const PortUse use =
      ports_of_sequence(std::vector<Operation>{ffma(11, 10, 12, 14), ffma(13, 16, 18, 21), nop()});
  EXPECT_EQ(use.bubbles_at, (std::vector<double>{0, 1, 0}));
  EXPECT_EQ(use.cycles, 4);
  EXPECT_EQ(use.ffmas, 2);
  EXPECT_EQ(use.ffma_reads, 6);
}

}  // namespace
}  // namespace tessera::sass
