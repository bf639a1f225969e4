// Results that depend on the order of warps, rightly or not; reads of shared memory that nobody
// wrote, used or thrown away; and files of many kernels.
#include <gtest/gtest.h>

#include "check/code.h"
#include "check/compile/one_kernel.h"
#include "tests/check/call.h"
#include "tests/check/small_kernel.h"

namespace tessera::checking {
namespace {

// Enough runs that each of two warps is the last in some.
const Words kEightSeeds = {"--seeds", "8"};

class CheckOrders : public Check {
 protected:
  static Words call(const std::string& kernel, const Words& arguments,
                    const std::string& grid = "1") {
    return launch("orders.ptx", kernel, grid, "64", arguments);
  }
};

TEST_F(CheckOrders, AtomicsMayHandOutPlacesInAnyOrder) {
  const Words arrays = {"out=i32[512]", "values=f32[512]", "count=i32[1]:zeros",
                        "in=f32[512]:uniform"};
  expect_says(call("takes_places", arrays, "8"), 0,
              {"note: array out depends on the order: ", ", the same elements in other places",
               "clean: no finding"});
  // The elements of both arrays taken together are the same.
  expect_says(call("links_lists", {"next=i32[64]", "first=i32[1]:constant=-1"}), 0,
              {"note: array next depends on the order: ", "clean: no finding"});
}

TEST_F(CheckOrders, OnlyAtomicsHandOutPlacesAndNotOfFlags) {
  const TemporaryFolder folder;
  const auto code_of = [&](const std::string& body) {
    write_text(folder / "kernel.ptx", kernel_of(body));
    const Ran ran = check({folder / "kernel.ptx", "--grid", "1", "--block", "256", "--seeds", "8",
                           "--arg", "word=i32[1]:zeros", "--arg", "out=i32[256]:zeros"});
    EXPECT_TRUE(contains(ran.out, "array out depends on the order")) << ran.out << ran.err;
    return ran.code;
  };
  const std::string place =
      "atom.global.add.u32 %r2, [%rd1], 1;\nmul.wide.u32 %rd5, %r2, 4;\n"
      "add.s64 %rd6, %rd2, %rd5;\n";
  EXPECT_EQ(code_of(place + "st.global.u32 [%rd6], %r13;\n"), 0);
  EXPECT_EQ(code_of(place + "shr.u32 %r3, %r12, 5;\nand.b32 %r3, %r3, 1;\n" +
                    "st.global.u32 [%rd6], %r3;\n"),
            1);
  // Values of eight warps that occur many times, and states.
  EXPECT_EQ(code_of(place + "shr.u32 %r3, %r13, 4;\nst.global.u32 [%rd6], %r3;\n"), 0);
  EXPECT_EQ(code_of(place + "shr.u32 %r3, %r13, 5;\nand.b32 %r3, %r3, 3;\n" +
                    "st.global.u32 [%rd6], %r3;\n"),
            0);
  EXPECT_EQ(code_of(place + "shr.u32 %r3, %r13, 5;\nrem.u32 %r3, %r3, 3;\n" +
                    "st.global.u32 [%rd6], %r3;\n"),
            1);
  // As many values, and others.
  EXPECT_EQ(code_of(place + "shr.u32 %r3, %r13, 4;\nsetp.lt.u32 %p1, %r2, 32;\n" +
                    "selp.u32 %r3, 99, %r3, %p1;\nst.global.u32 [%rd6], %r3;\n"),
            1);
  // Here a flag that another warp sets decides.
  const std::string store = "mul.wide.u32 %rd5, %r2, 4;\nadd.s64 %rd6, %rd2, %rd5;\n";
  EXPECT_EQ(code_of("setp.eq.u32 %p1, %r13, 0;\nsetp.ne.u32 %p2, %r13, 32;\n"
                    "@%p1 st.relaxed.gpu.global.u32 [%rd1], %r15;\n@%p2 bra $E;\n"
                    "ld.relaxed.gpu.global.u32 %r2, [%rd1];\nmov.u32 %r3, 7;\n"
                    "xor.b32 %r4, %r2, 1;\n" +
                    store + "st.global.u32 [%rd6], %r3;\nmov.u32 %r2, %r4;\n" + store +
                    "st.global.u32 [%rd6], %r14;\n$E:\n"),
            1);
}

// The words say whose value stays, and that it may be meant; the exit code says that it depends.
TEST_F(CheckOrders, TheLastExchangeIsNamed) {
  const std::string names = "array out holds what the last atomicExch() leaves there";
  expect_says(joined(call("last_one_stays", {"out=i32[1]:zeros"}), kEightSeeds), 1,
              {"error: order-dependent-result: " + names, ": leaves what it stores, unless",
               "orders.cu:21: ", "atomicExch(out, threadIdx.x / 32)", "atom.global.exch.b32",
               "do:    nothing, if the value of any thread will do; else "});
  // Not where the exchange is of another array, or somebody uses what it found.
  const TemporaryFolder folder;
  const auto is_named = [&](const std::string& body) {
    write_text(folder / "kernel.ptx", kernel_of(body));
    const Ran ran = check(joined({folder / "kernel.ptx", "--grid", "1", "--block", "256", "--arg",
                                  "word=i32[2]:zeros", "--arg", "out=i32[256]:zeros"},
                                 kEightSeeds));
    EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
    expect_parts(ran.out, {"error: order-dependent-result: array "});
    return contains(ran.out, "holds what the last atomicExch() leaves there");
  };
  const std::string exchange = "atom.global.exch.b32 %r6, [%rd1], %r13;\n";
  EXPECT_TRUE(is_named(exchange));
  EXPECT_FALSE(is_named(exchange + "and.b32 %r6, %r6, 1;\nst.global.u32 [%rd4], %r6;\n"));
  EXPECT_FALSE(
      is_named("atom.global.add.u32 %r2, [%rd1], 1;\nmul.wide.u32 %rd5, %r2, 4;\n"
               "add.s64 %rd6, %rd2, %rd5;\nshr.u32 %r3, %r12, 5;\n"
               "and.b32 %r3, %r3, 1;\nst.global.u32 [%rd6], %r3;\n"
               "atom.global.exch.b32 %r6, [%rd1+4], 5;\n"));
}

TEST_F(CheckOrders, ClocksTellOtherTimes) {
  expect_says(call("tells_time", {"out=f32[256]", "time=i64[8]"}, "4"), 0,
              {"as the kernel stores times there", "clean: no finding"});
  // One CTA, as a seed orders its warps; of several CTAs, which run at the same time, none does.
  for (const char* out : {"out=f32[1]:zeros", "out=i32[1]:zeros"}) {
    expect_says(joined(call("last_one_stays_and_is_timed", {out, "time=i64[2]"}), kEightSeeds), 1,
                {"error: order-dependent-result: array out holds what the last atomicExch()"});
  }
}

TEST_F(CheckOrders, TimesAreFollowedToWhereTheyAreStored) {
  const TemporaryFolder folder;
  const auto ran = [&](const std::string& body) {
    write_text(folder / "kernel.ptx", kernel_of(body));
    return check({folder / "kernel.ptx", "--grid", "4", "--block", "64", "--seeds", "8", "--arg",
                  "word=i32[1]:zeros", "--arg", "out=i32[256]:zeros"});
  };
  const std::string clock =
      ".shared .b32 slots[64];\nmov.u32 %r2, %clock;\nadd.s32 %r2, %r2, %r12;\n"
      "shl.b32 %r3, %r12, 2;\nmov.u32 %r4, slots;\nadd.s32 %r4, %r4, %r3;\n"
      "st.shared.u32 [%r4], %r2;\nld.shared.u32 %r5, [%r4];\n";
  const std::string last = "atom.global.exch.b32 %r6, [%rd1], %r13;\n";
  const Ran timed = ran(clock + "st.global.u32 [%rd4], %r5;\n");
  EXPECT_EQ(timed.code, 0) << timed.out << timed.err;
  expect_parts(timed.out, {"array out depends on the order", "as the kernel stores times there"});
  const Ran other = ran(clock + "st.global.u32 [%rd4], %r5;\n" + last);
  EXPECT_EQ(other.code, 1) << other.out << other.err;
  expect_parts(other.out, {"error: order-dependent-result: array word holds"});
}

// Times are followed through arguments of functions and through values in memory.
TEST_F(CheckOrders, TimesAreFollowedIntoFunctionsAndThroughPointers) {
  const TemporaryFolder folder;
  const auto ran = [&](const std::string& functions, const std::string& body,
                       const std::string& word = "i32[1]:zeros") {
    std::string text = kernel_of(body);
    text.insert(text.find(".visible .entry"), functions);
    write_text(folder / "kernel.ptx", text);
    return check({folder / "kernel.ptx", "--grid", "4", "--block", "64", "--seeds", "8", "--arg",
                  "word=" + word, "--arg", "out=i32[256]:zeros"});
  };
  const std::string stores =
      ".func tell(.param .b64 to)\n{\n.reg .b32 %r<3>;\n.reg .b64 %rd<3>;\n"
      "ld.param.u64 %rd1, [to];\nmov.u32 %r1, %clock;\nst.u32 [%rd1], %r1;\nret;\n}\n";
  const std::string returns =
      ".func (.param .b32 time) later();\n"
      ".func (.param .b32 time) now()\n{\n.reg .b32 %r<3>;\nmov.u32 %r1, %clock;\n"
      "st.param.b32 [time], %r1;\nret;\n}\n"
      ".func (.param .b32 time) later()\n{\n.reg .b32 %r<3>;\n"
      "{\n.param .b32 n;\ncall.uni (n), now, ();\nld.param.b32 %r1, [n];\n}\n"
      "add.s32 %r1, %r1, 1;\nst.param.b32 [time], %r1;\nret;\n}\n";
  const std::string handed = "{\n.param .b64 p;\nst.param.b64 [p], %rd4;\ncall.uni tell, (p);\n}\n";
  const std::string got =
      "{\n.param .b32 n;\ncall.uni (n), later, ();\nld.param.b32 %r2, [n];\n}\n"
      "st.global.u32 [%rd4], %r2;\n";
  const std::string through_memory =
      "ld.global.u64 %rd5, [%rd1];\nadd.s64 %rd5, %rd5, %rd3;\nmov.u32 %r2, %clock;\n"
      "st.global.u32 [%rd5], %r2;\n";
  for (const Ran& timed :
       {ran(stores, handed), ran(returns, got), ran("", through_memory, "pointers(out)")}) {
    EXPECT_EQ(timed.code, 0) << timed.out << timed.err;
    expect_parts(timed.out, {"array out depends on the order", "as the kernel stores times there"});
  }
  // What is loaded from where the clock says is a time; what lies beside it is none.
  const std::string slots =
      ".shared .align 16 .b32 slots[64];\nmov.u32 %r2, %clock;\nand.b32 %r2, %r2, 0;\n"
      "shl.b32 %r3, %r12, 2;\nmov.u32 %r4, slots;\nadd.s32 %r3, %r4, %r3;\n"
      "st.shared.u32 [%r3], %r12;\nbar.sync 0;\nadd.s32 %r5, %r4, %r2;\n";
  const std::string last =
      "ld.shared.u32 %r7, [slots];\nadd.s32 %r7, %r7, %r13;\n"
      "atom.global.exch.b32 %r8, [%rd1], %r7;\n";
  for (const std::string load :
       {"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r6}, [%r5];\n",
        "wmma.load.c.sync.aligned.row.m16n16k16.shared.s32 {%r0, %r1, %r6, %r9, %r16, %r17, "
        "%r18, %r19}, [%r5], 0;\n"}) {
    const Ran other = ran("", slots + load + last);
    EXPECT_EQ(other.code, 1) << other.out << other.err;
    expect_parts(other.out, {"error: order-dependent-result: array word holds"});
  }
}

TEST_F(CheckOrders, SharedMemoryThatNobodyWroteMayBeReadAndThrownAway) {
  expect_says(
      call("scans_slots", {"out=i32[2]", "in=i32[64]:iota"}), 0,
      {"note: uninitialised-shared-read: ", "nobody has written: no array here depends on it",
       "orders.cu:40: read 4 bytes", "clean: no finding"});
}

TEST_F(CheckOrders, SharedMemoryThatNobodyWroteIsAFindingWhereItIsUsed) {
  for (const char* kernel :
       {"adds_slots", "takes_largest_slot", "takes_smallest_slot", "waits_for_slots"}) {
    SCOPED_TRACE(kernel);
    expect_says(call(kernel, {"out=i32[64]", "in=i32[64]:iota"}), 1,
                {"error: uninitialised-shared-read: ", "do:    write these bytes"});
  }
  for (const char* in : {"in=i32[64]:constant=-700000000", "in=i32[64]:constant=-2139000000"}) {
    expect_says(call("takes_smallest_slot", {"out=i32[64]", in}), 1,
                {"error: uninitialised-shared-read: "});
  }
  expect_says(call("takes_largest_slot", {"out=i32[64]", "in=i32[64]:constant=2139000000"}), 1,
              {"error: uninitialised-shared-read: "});
  // 60000 and -60000 are not the last of f16.
  const TemporaryFolder folder;
  for (const std::string last :
       {"mov.b16 %h1, 0x7b53;\nmax.f16", "mov.b16 %h1, 0xfb53;\nmin.f16"}) {
    write_text(
        folder / "kernel.ptx",
        kernel_of(".shared .b16 slots[64];\n.reg .b16 %h<9>;\nld.shared.b16 %h2, [slots];\n" +
                  last + " %h3, %h1, %h2;\nst.global.u16 [%rd4], %h3;\n"));
    expect_says({folder / "kernel.ptx", "--grid", "1", "--block", "64", "--arg",
                 "word=i32[1]:zeros", "--arg", "out=i32[64]:zeros"},
                1, {"error: uninitialised-shared-read: "});
  }
  // What comes out is the same and tells nothing.
  expect_says(call("adds_slots_to_nan", {"out=f32[1]", "in=i32[64]:iota", "zero=f32:0"}), 1,
              {"error: uninitialised-shared-read: "});
}

TEST_F(CheckOrders, ReadsThatACompareAndSwapTestsAreNotes) {
  const Words note = {
      "note: race: ", "tests what it got, so that an old value costs one more round",
      "clean: no finding"};
  const Words many = call("takes_largest", {"out=i32[1]:zeros", "in=f32[256]:uniform"}, "4");
  expect_says(many, 0, note);
  expect_says(joined(many, {"--strict-ptx"}), 1, {"error: race: "});
  expect_says(call("takes_largest_of_block", {"out=i32[64]", "in=f32[64]:uniform"}), 0, note);
  expect_says(call("trusts_what_it_read", {"out=i32[256]", "count=i32[1]:zeros"}, "4"), 1,
              {"error: race: "});
}

TEST_F(CheckOrders, ArraysThatAskForMoreAlignmentThanTheyGetAreTold) {
  expect_says(call("flips_addresses", {"out=i32[64]"}), 0,
              {"note: shared array tile asks for an address that is a multiple of 4096, but code"});
  const Ran other = check(call("scans_slots", {"out=i32[2]", "in=i32[64]:iota"}));
  EXPECT_FALSE(contains(other.out, "asks for an address")) << other.out;
}

const char* const kTwoKernels =
    ".version 8.0\n"
    ".global .u32 seen; // .entry none {\n"
    ".visible .entry first(.param .u64 x)\n"
    ".maxntid 64\n"
    "{\n { // a brace: }\n }\n ret;\n"
    "}\n"
    "\t// .globl\tfirst\n"
    ".entry second(\n .param .u64 x\n)\n"
    "{\n ret; // second alone\n"
    "}\n";

TEST(OneKernel, OthersAreBlankAndLinesKeepTheirNumbers) {
  const std::string all = kTwoKernels;
  const std::string first = with_one_kernel(all, "first"), second = with_one_kernel(all, "second");
  EXPECT_TRUE(contains(first, "a brace") && !contains(first, "second")) << first;
  EXPECT_TRUE(contains(second, ".global .u32 seen;") && !contains(second, ".entry first"))
      << second;
  EXPECT_EQ(first.find(".entry first"), all.find(".entry first"));
  EXPECT_EQ(line_of(second, 15), " ret; // second alone");
  EXPECT_EQ(with_one_kernel(all, "third"), all);
}

TEST(OneKernel, KernelsMayShareALine) {
  const std::string a = ".visible .entry a(.param .u64 x) { ret; }", b = " .visible .entry b() { }";
  EXPECT_EQ(with_one_kernel(a + b + "\n", "a"), a + " \n");
  EXPECT_EQ(with_one_kernel(a + b + "\n", "b"), b + "\n");
  const std::string before = ".global .u32 words[4]; ";
  EXPECT_EQ(with_one_kernel(before + a + b, "b"), before + b)
      << "what precedes it on its line stays";
}

TEST(OneKernel, WhatNamesAnotherKernelKeepsIt) {
  const std::string all = std::string(kTwoKernels) + ".global .u64 table[1] = {first};\n";
  EXPECT_EQ(with_one_kernel(all, "second"), all);
}

}  // namespace
}  // namespace tessera::checking
