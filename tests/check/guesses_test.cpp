// Plain reads that race with atomics, and only say what a compare-and-swap expects: notes. Whatever
// else is made of them is a race.
#include <gtest/gtest.h>

#include "tests/check/call.h"
#include "tests/check/small_kernel.h"

namespace tessera::checking {
namespace {

// All of them read a word to %r1 first.
class CheckGuesses : public Check {
 protected:
  static bool is_race(const std::string& body, const std::string& before = "") {
    const TemporaryFolder folder;
    write_text(folder / "kernel.ptx", kernel_of(before + "ld.global.u32 %r1, [%rd1];\n" + body));
    const Ran ran = check({folder / "kernel.ptx", "--grid", "4", "--block", "64", "--arg",
                           "word=i32[1]:zeros", "--arg", "out=i32[256]:zeros"});
    EXPECT_TRUE(contains(ran.out, "race: ")) << ran.out << ran.err;
    return contains(ran.out, "error: race: ");
  }
};

const std::string swap = "atom.global.cas.b32 %r2, [%rd1], %r1, %r15;\n";
const std::string loop =
    "$L: max.s32 %r3, %r1, %r14;\n"
    "atom.global.cas.b32 %r2, [%rd1], %r1, %r3;\n"
    "setp.ne.s32 %p1, %r2, %r1;\nmov.u32 %r1, %r2;\n@%p1 bra $L;\n";

TEST_F(CheckGuesses, MayGoNowhereButIntoTheCompareAndSwap) {
  EXPECT_FALSE(is_race(swap));
  EXPECT_FALSE(is_race(loop));
  EXPECT_FALSE(is_race("setp.ge.s32 %p2, %r1, %r14;\n@%p2 bra $E;\n" + loop + "$E:\n"));
  EXPECT_FALSE(is_race(swap + "mov.u32 %r1, 1;\nst.global.u32 [%rd4], %r1;\n"));
  EXPECT_TRUE(is_race(swap + "st.global.u32 [%rd4], %r1;\n"));
  EXPECT_TRUE(is_race("mov.u32 %r5, %r1;\n" + loop + "add.s32 %r5, %r5, 2;\n" +
                      "st.global.u32 [%rd4], %r5;\n"));
  EXPECT_TRUE(is_race("setp.ne.s32 %p2, %r1, 0;\n@%p2 bra $E;\n" + swap +
                      "st.global.u32 [%rd4], %r14;\n$E:\n"));
  EXPECT_TRUE(is_race("mov.u32 %r6, 0;\nsetp.ne.s32 %p2, %r1, 0;\n@%p2 bra $E;\n" + swap +
                      "mov.u32 %r6, 1;\n$E: st.global.u32 [%rd4], %r6;\n"));
  // What is expected, or where, is something else by now.
  EXPECT_TRUE(is_race("mov.u32 %r1, 0;\n" + swap));
  EXPECT_TRUE(is_race("mov.u64 %rd5, %rd1;\nadd.s64 %rd1, %rd2, 0;\n" + swap +
                      "atom.global.cas.b32 %r2, [%rd5], %r14, %r15;\n"));
  // An index made of it.
  EXPECT_TRUE(is_race("mul.wide.u32 %rd6, %r1, 0;\nadd.s64 %rd7, %rd4, %rd6;\n" + swap +
                      "st.global.u32 [%rd7], %r14;\n"));
}

TEST_F(CheckGuesses, TheWordIsTheOneThatWasReadOnEveryWay) {
  const std::string swap_there = "atom.global.cas.b32 %r2, [%rd5], %r1, %r15;\n";
  const std::string fifth = "mov.u64 %rd5, %rd1;\nsetp.ne.u32 %p3, %r12, 5;\n";
  EXPECT_FALSE(is_race("mov.u64 %rd5, %rd1;\n" + swap_there));
  EXPECT_TRUE(is_race(fifth + "@!%p3 bra $B;\nmov.u64 %rd5, %rd2;\n$B: " + swap_there));
  EXPECT_TRUE(is_race(fifth + "@%p3 mov.u64 %rd5, %rd2;\n" + swap_there));
}

TEST_F(CheckGuesses, ASwapThatDependsOnTheReadHandsItOn) {
  const std::string guarded = "mov.u32 %r2, 77;\nsetp.eq.s32 %p2, %r1, 0;\n@%p2 " + swap;
  EXPECT_FALSE(is_race(guarded));
  EXPECT_TRUE(is_race(guarded + "st.global.u32 [%rd4], %r2;\n"));
  EXPECT_FALSE(is_race(swap + "st.global.u32 [%rd4], %r2;\n"));
}

TEST_F(CheckGuesses, SuccessMayOnlyEndTheAttempts) {
  const std::string asks = swap + "setp.eq.s32 %p1, %r2, %r1;\n";
  EXPECT_FALSE(is_race(asks));
  EXPECT_TRUE(is_race(asks + "selp.u32 %r4, 1, 0, %p1;\nst.global.u32 [%rd4], %r4;\n"));
  EXPECT_TRUE(is_race(asks + "@%p1 st.global.u32 [%rd4], %r15;\n"));
  EXPECT_TRUE(is_race(asks + "@!%p1 bra $E;\nst.global.u32 [%rd4], %r15;\n$E:\n"));
  EXPECT_TRUE(is_race("mov.u32 %r4, 0;\n" + asks + "@!%p1 bra $E;\nmov.u32 %r4, 1;\n" +
                      "$E: st.global.u32 [%rd4], %r4;\n"));
  // On one way here the predicate says what was read.
  const std::string either = "@%p3 bra $N;\n" + swap + "bra $B;\n$N: mov.u32 %r2, 0;\n";
  const std::string ask = "$B: setp.ne.s32 %p1, %r2, %r1;\n@%p1 bra $E;\nmov.u32 %r9, 0;\n$E:\n";
  EXPECT_TRUE(is_race("setp.eq.u32 %p3, %r12, 5;\n" + either + ask));
  EXPECT_FALSE(is_race(swap + ask));
  const auto attempts = [](const std::string& more) {
    return "mov.u32 %r6, 0;\n$L: max.s32 %r3, %r1, %r14;\n"
           "atom.global.cas.b32 %r2, [%rd1], %r1, %r3;\n" +
           more + "setp.eq.s32 %p1, %r2, %r1;\nmov.u32 %r1, %r2;\n";
  };
  for (const std::string leave : {"@%p1 bra $E;\nbra $L;\n$E: ", "@!%p1 bra $L;\n"}) {
    EXPECT_FALSE(is_race(attempts("") + leave + "st.global.u32 [%rd4], %r2;\n"));
    EXPECT_FALSE(is_race(attempts("add.s32 %r6, %r6, 1;\n") + leave));
    EXPECT_TRUE(
        is_race(attempts("add.s32 %r6, %r6, 1;\n") + leave + "st.global.u32 [%rd4], %r6;\n"));
    EXPECT_TRUE(is_race(attempts("st.global.u32 [%rd4], %r14;\n") + leave));
  }
}

TEST_F(CheckGuesses, WhatWasReadBeforeIsOlderThanTheRead) {
  const std::string before = "mov.u32 %r1, 0;\nmov.u32 %r8, 0;\n$R: mov.u32 %r7, %r1;\n";
  const std::string again =
      "add.s32 %r8, %r8, 1;\nsetp.lt.u32 %p3, %r8, 2;\n@%p3 bra $R;\n"
      "atom.global.cas.b32 %r2, [%rd1], ";
  EXPECT_FALSE(is_race(again + "%r1, %r15;\n", before));
  EXPECT_TRUE(is_race(again + "%r7, %r15;\n", before));
}

}  // namespace
}  // namespace tessera::checking
