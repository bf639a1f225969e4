// Updates without an atomic, which lanes of a warp or warps lose to one another; and what looks
// like them and loses nothing. What to do is said of lines that can be told apart.
#include <gtest/gtest.h>

#include "tests/check/call.h"
#include "vgpu/observe/flow/flow.h"

namespace tessera::checking {
namespace {

class CheckUpdates : public Check {
 protected:
  static Words call(const std::string& kernel, const Words& arguments,
                    const std::string& block = "32", const std::string& grid = "1") {
    return launch("updates.ptx", kernel, grid, block, arguments);
  }
  static Ran ran(const Words& words, int code) {
    const Ran one = check(words);
    EXPECT_EQ(one.code, code) << one.out << one.err;
    return one;
  }
};

const Words kBins = {"out=i32[32]:zeros", "in=i32[64]:iota"};
const Words kWord = {"out=i32[1]:zeros", "in=i32[64]:iota"};

TEST_F(CheckUpdates, LanesLoseUpdatesOfOneWord) {
  const Words lost = {"error: lost-update: 4 lanes of warp 0 (line ",
                      "read-modify-write the same word of ",
                      "all updates but one are lost",
                      ": lanes 0, 8, 16, 24 wrote one word of ",
                      "where one update is meant",
                      "1 finding\n"};
  for (const char* kernel :
       {"counts_in_shared", "counts_between_barriers", "counts_between_barriers_of_block",
        "counts_in_global", "counts_volatile", "counts_in_a_function"}) {
    SCOPED_TRACE(kernel);
    const Ran one = ran(call(kernel, kBins), 1);
    expect_parts(one.out, lost,
                 {"lockstep", "same-value-stores", "__syncwarp", "__syncthreads", "nothing, as"});
    expect_parts(one.out, {"do:    use an atomic, such as atomicAdd(), at line "});
  }
  expect_says(call("counts_in_global", kBins), 1,
              {"32 times, in 3 of 3 runs", "where: array out (i32[32]), byte 0",
               "updates.cu:38: read it, each to compute what it wrote", "ld.global.u32"});
  expect_says(call("flips", kBins), 1, {"error: lost-update: 4 lanes", "atomicXor()"});
  expect_says(call("shifts", kBins), 1, {"error: lost-update: 4 lanes", "loop with atomicCAS()"});
}

TEST_F(CheckUpdates, LanesLoseOtherUpdatesThanOthersToo) {
  const Words absent = {"lockstep", "race: ", "same-value-stores"};
  const Words floats = {"out=f32[1]:zeros", "in=f32[32]:iota"};
  expect_parts(ran(call("adds_up", floats), 1).out,
               {"error: lost-update: 32 lanes of warp 0 ", "atomicAdd()", "1 finding\n"}, absent);
  expect_parts(ran(call("keeps_largest", kWord), 1).out,
               {"error: lost-update: 32 lanes of warp 0 ", "atomicMax()", "1 finding\n"}, absent);
}

TEST_F(CheckUpdates, WhatAtomicsMendIsToldOnce) {
  const Ran warps = ran(call("counts_in_global", kBins, "64"), 1);
  expect_parts(warps.out, {"error: lost-update: 4 lanes", "1 finding\n"}, {"race: "});
  const Ran blocks = ran(call("counts_in_global", kBins, "32", "2"), 1);
  expect_parts(blocks.out, {"error: lost-update: 4 lanes", "1 finding\n"}, {"race: "});
}

TEST_F(CheckUpdates, WarpsThatLoseUpdatesAreToldOfTheAtomic) {
  const std::string atomic = "do:    make the update of line ";
  const Ran warps = ran(call("counts_warps", {"out=i32[1]"}, "64"), 1);
  expect_parts(warps.out, {"error: race: ", atomic, "an atomic, such as atomicAdd()"},
               {"put __syncthreads()", "lost-update"});
  const Ran bins = ran(call("counts_warps_in_bins", {"out=i32[64]"}, "64"), 1);
  expect_parts(bins.out, {"error: race: ", atomic, "an atomic, such as atomicAdd()"});
  const Ran blocks = ran(call("counts_blocks", {"out=i32[1]:zeros"}, "64", "2"), 1);
  expect_parts(blocks.out, {"error: race: ", atomic, "an atomic, such as atomicAdd()"},
               {"give each CTA", "lost-update"});
}

TEST_F(CheckUpdates, UpdatesOfTwoLinesAreToldOfTheAtomicAtBoth) {
  const Ran lost = ran(call("counts_at_two_lines", kBins, "64"), 1);
  expect_parts(lost.out, {"error: lost-update: ", "2 findings\n"}, {"__syncthreads()", "race: "});
  const Ran warps = ran(call("counts_warps_at_two_lines", kBins, "64"), 1);
  expect_parts(warps.out,
               {"error: race: ", "do:    make the updates of line ",
                "atomics, such as atomicAdd();", "a barrier between the two is enough only where "},
               {"put __syncthreads()", "lost-update"});
  const Ran looks =
      ran(call("counts_and_looks", {"out=i32[64]:zeros", "in=i32[64]:iota"}, "64"), 1);
  expect_parts(looks.out, {"error: race: ", "do:    put __syncthreads() "}, {"atomic", "lost"});
}

TEST_F(CheckUpdates, OfTheLanesThatStoreAtOnceOneStays) {
  expect_parts(ran(call("leaves_one_of_the_lanes", kWord), 1).out,
               {"error: race: Several lanes of warp 0 ", "store to one place of global memory at",
                "do:    let one lane store, or give each lane of line "},
               {"lockstep", "lost-update", "__syncwarp"});
}

TEST_F(CheckUpdates, TheSameOnceMoreLosesNothing) {
  for (const char* kernel : {"keeps_at_least", "sets_bit", "clears_bits"}) {
    SCOPED_TRACE(kernel);
    const Ran one = ran(call(kernel, {"out=i32[1]:zeros", "in=i32:4"}), 0);
    expect_parts(one.out, {"note: same-value-stores", "clean: no finding"}, {"lockstep"});
    const Ran strict =
        ran(joined(call(kernel, {"out=i32[1]:zeros", "in=i32:4"}), {"--strict-ptx"}), 1);
    expect_parts(strict.out, {"error: race: Several lanes"}, {"lost-update"});
  }
  for (const char* kernel : {"sets_flag", "adds_sum_of_warp"}) {
    SCOPED_TRACE(kernel);
    expect_says(call(kernel, kWord), 0, {"note: same-value-stores", "clean: no finding"});
  }
  expect_says(call("takes_a_step", {"out=i32[64]:zeros", "level=i32[1]:zeros"}, "64"), 0,
              {"note: same-value-stores", "clean: no finding"});
}

TEST_F(CheckUpdates, WordsOfALaneAndAtomicsAreClean) {
  const Words own = {"out=i32[64]:zeros", "in=i32[64]:iota"};
  for (const char* kernel : {"has_bins_of_its_own", "counts_by_atomics"}) {
    SCOPED_TRACE(kernel);
    expect_parts(ran(call(kernel, own, "64"), 0).out, {"clean: no finding"}, {"note: "});
  }
}

TEST_F(CheckUpdates, ABarrierIsNotPutBetweenALineAndItself) {
  expect_says(call("moves_down", kBins), 1,
              {"lockstep: Lane ", "put __syncwarp() between the read and the write of line ",
               ", which is to be taken apart\n"});
  const Ran next = ran(call("adds_the_next", kBins), 1);
  expect_parts(next.out, {"lockstep: Lane ", "put __syncwarp() between the read and the write of"},
               {"atomic", "lost-update"});
  // What a lane adds to its own word is not what others change.
  const Ran tree = ran(call("adds_in_a_tree", kWord, "64"), 1);
  expect_parts(
      tree.out,
      {"lockstep: Lane ", "do:    put __syncwarp() after line ", ", before it runs again\n"},
      {"lost-update", "atomic"});
  const Ran round = ran(call("goes_round", kBins), 1);
  expect_parts(round.out, {"lockstep: Lane ", "__syncwarp() after line ", "atomicAdd()"},
               {"lost-update"});
}

// ---- as PTX tells -------------------------------------------------------------------------------

std::vector<vgpu::Update> updates_of(const std::string& body) {
  return vgpu::updates_in(
      ".version 8.0\n.target sm_90a\n.address_size 64\n"
      ".visible .entry kernel(.param .u64 word)\n{\n"
      ".reg .pred %p<9>;\n.reg .b32 %r<20>;\n.reg .b64 %rd<20>;\n"
      "ld.param.u64 %rd1, [word];\nmov.u32 %r10, %tid.x;\nmul.wide.u32 %rd3, %r10, 4;\n"
      "add.s64 %rd2, %rd1, %rd3;\nld.global.u32 %r1, [%rd1];\n" +
      body + "st.global.u32 [%rd1], %r2;\nret;\n}\n");
}

TEST(Updates, AreTakenFromWhatIsComputed) {
  const auto expect = [](const std::string& body, bool accumulates, const char* atomic) {
    const std::vector<vgpu::Update> updates = updates_of(body);
    ASSERT_EQ(updates.size(), 1u) << body;
    EXPECT_EQ(updates[0].accumulates, accumulates) << body;
    EXPECT_EQ(updates[0].atomic, atomic) << body;
    EXPECT_TRUE(updates[0].is_common);
  };
  expect("add.s32 %r2, %r1, %r10;\n", true, "atomicAdd()");
  expect("mad.lo.s32 %r2, %r10, %r10, %r1;\n", true, "atomicAdd()");
  expect("sub.s32 %r2, %r10, %r1;\n", true, "a loop with atomicCAS()");
  expect("mad.lo.s32 %r2, %r1, %r10, %r10;\n", true, "a loop with atomicCAS()");
  expect("add.s32 %r3, %r1, %r10;\nmin.s32 %r2, %r3, 255;\n", true, "a loop with atomicCAS()");
  expect("add.s32 %r3, %r1, 1;\nsetp.eq.s32 %p1, %r1, 7;\nselp.b32 %r2, 0, %r3, %p1;\n", true,
         "atomicAdd()");
  expect("min.s32 %r2, %r10, %r1;\n", false, "atomicMin()");
  expect("and.b32 %r2, %r1, 7;\n", false, "atomicAnd()");
  expect("bfi.b32 %r2, %r10, %r1, 0, 4;\n", false, "a loop with atomicCAS()");
  expect("bfi.b32 %r2, %r1, %r10, 4, 4;\n", true, "a loop with atomicCAS()");
  // (value & %r10) | 5, and value ^ %r10 ^ 5.
  expect("lop3.b32 %r2, %r1, %r10, 5, 0xea;\n", false, "a loop with atomicCAS()");
  expect("lop3.b32 %r2, %r1, %r10, 5, 0x96;\n", true, "a loop with atomicCAS()");
  expect("lop3.b32 %r2, %r10, 5, %r1, 0x5a;\n", true, "a loop with atomicCAS()");
}

TEST(Updates, AreNotWhatIsOnlyTestedOrMadeByTheWarp) {
  EXPECT_TRUE(updates_of("mov.u32 %r2, %r1;\n").empty());
  EXPECT_TRUE(updates_of("setp.eq.s32 %p1, %r1, 7;\nselp.b32 %r2, 0, %r10, %p1;\n").empty());
  EXPECT_TRUE(updates_of("shfl.sync.bfly.b32 %r3, %r10, 1, 31, -1;\n"
                         "add.s32 %r2, %r1, %r3;\n")
                  .empty());
  EXPECT_TRUE(updates_of("barrier.cta.red.popc.aligned.u32 %r3, 0, %p1;\n"
                         "add.s32 %r2, %r1, %r3;\n")
                  .empty());
  EXPECT_TRUE(updates_of("add.s32 %r3, %r1, 1;\nmov.u32 %r2, %r10;\n").empty());
  const std::vector<vgpu::Update> own =
      updates_of("add.s32 %r2, %r1, 1;\nst.global.u32 [%rd2], %r2;\n");
  ASSERT_EQ(own.size(), 2u);
  EXPECT_FALSE(own[0].is_common);
  EXPECT_TRUE(own[1].is_common);
}

}  // namespace
}  // namespace tessera::checking
