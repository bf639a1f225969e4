// printf, assert, malloc and grid.sync() in kernels that are checked: they run, and what goes wrong
// in them is a finding with its line.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "lab/record/record.h"
#include "tests/check/call.h"

namespace tessera::checking {
namespace {

class CheckSystem : public Check {
 protected:
  static Ran run(const std::string& kernel, const Words& rest) {
    const Words words = {kFolder + "system.ptx", "--kernel", kernel, "--seeds", "1"};
    return check(joined(words, rest));
  }
  static Ran run_heap(const std::string& beyond, const std::string& freed) {
    return run("heap", {"--grid", "1", "--block", "32", "--arg", "out=u64[32]", "--arg",
                        "b=i32:" + beyond, "--arg", "f=i32:" + freed});
  }
};

TEST_F(CheckSystem, PrintfIsShownUnlessQuiet) {
  const Words call = {"--grid", "1", "--block", "32", "--arg", "out=i32[32]"};
  const Ran ran = run("formats", call);
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  const std::string shown =
      "printed in the first run:\n"
      "  -3| 2.50|ab    |x|-1099511627776|ff|1.234e+03|%|   7\n"
      "  -3| 2.50|ab    |y|-1099511627776|ff|1.234e+03|%|   7\n\n";
  EXPECT_TRUE(contains(ran.out, shown)) << ran.out;
  EXPECT_FALSE(contains(run("formats", joined(call, {"--quiet"})).out, "printed"));
  const lab::Json object = lab::Json::parse(run("formats", joined(call, {"--json", "-"})).out);
  EXPECT_TRUE(contains(object.at("printed"), "|ab    |y|")) << object;
}

TEST_F(CheckSystem, ManyLinesAreCutUnlessAllAreAskedFor) {
  const Words call = {"--grid", "40", "--block", "2", "--arg", "out=i32[2]"};
  EXPECT_TRUE(contains(run("formats", call).out, "  (40 lines more; --all shows them)"));
  EXPECT_FALSE(contains(run("formats", joined(call, {"--all"})).out, "more; --all"));
}

TEST_F(CheckSystem, AFailedAssertionIsAFindingWithItsLineAndValues) {
  const Words call = {"--grid", "2", "--block", "32", "--arg", "x=f32[64]:ones"};
  EXPECT_EQ(run("asserts", joined(call, {"--arg", "n=i32:64"})).code, 0);
  const Ran ran = run("asserts", joined(call, {"--arg", "n=i32:60"}));
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
  expect_parts(ran.out, {"error: assert: assertion failed: i < n, in void asserts(const float *, ",
                         "what it compares was 60 and 60; it failed in 4 lanes of this warp",
                         "system.cu:16: stopped here", "CTA 1, warp 0, lane 28"});
}

TEST_F(CheckSystem, TheHeapIsCheckedLikeArrays) {
  EXPECT_EQ(run_heap("0", "0").code, 0);
  const Ran beyond = run_heap("1", "0"), freed = run_heap("0", "1");
  EXPECT_EQ(beyond.code, 1) << beyond.err;
  EXPECT_TRUE(contains(beyond.out, "error: out-of-bounds: ")) << beyond.out;
  EXPECT_TRUE(contains(beyond.out, "0 bytes past the end of 16 bytes of malloc()")) << beyond.out;
  EXPECT_TRUE(contains(beyond.out, "system.cu:24: ")) << beyond.out;
  EXPECT_EQ(freed.code, 1) << freed.err;
  EXPECT_TRUE(contains(freed.out, "inside 16 bytes of malloc() that were freed")) << freed.out;
  const Ran early =
      run("heap_read_early", {"--grid", "1", "--block", "32", "--arg", "out=f32[32]"});
  EXPECT_EQ(early.code, 1) << early.err;
  EXPECT_TRUE(contains(early.out, "uninitialised-global-read")) << early.out;
}

TEST_F(CheckSystem, NewOfATypeOfLargeAlignment) {
  const Words call = {"--grid", "1", "--block", "64", "--arg", "out=i32[64]", "--arg"};
  const Ran ran = run("aligned_heap", joined(call, {"beyond=i32:0"}));
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  const Ran beyond = run("aligned_heap", joined(call, {"beyond=i32:1"}));
  EXPECT_EQ(beyond.code, 1) << beyond.err;
  EXPECT_TRUE(contains(beyond.out, "0 bytes past the end of 512 bytes of malloc()")) << beyond.out;
}

TEST_F(CheckSystem, BlocksMeetAtGridSync) {
  const Words call = {"--grid",         "16",    "--block",    "64",   "--arg",
                      "data=i32[2048]", "--arg", "n=i32:1024", "--arg"};
  const Ran meets = run("meets", joined(call, {"waits=i32:1"}));
  EXPECT_EQ(meets.code, 0) << meets.out << meets.err;
  const Ran runs_on = run("meets", joined(call, {"waits=i32:0"}));
  EXPECT_EQ(runs_on.code, 1) << runs_on.err;
  EXPECT_TRUE(contains(runs_on.out, "nothing orders CTAs")) << runs_on.out;
}

// Both are over long before their time is.
TEST_F(CheckSystem, ManyBlocksMeetAndTooManyAreADeadlock) {
  const auto meet = [](const std::string& blocks, const std::string& data) {
    return run("meets", {"--grid", blocks, "--block", "1024", "--seconds", "8", "--arg",
                         "data=i32[" + data + "]", "--arg",
                         "n=i32:" + std::to_string(std::stoi(data) / 2), "--arg", "waits=i32:1"});
  };
  const Ran fit = meet("132", "270336");
  EXPECT_EQ(fit.code, 0) << fit.out << fit.err;
  const Ran many = meet("300", "614400");
  EXPECT_EQ(many.code, 1) << many.err;
  EXPECT_TRUE(contains(many.out, "error: deadlock: ")) << many.out;
  EXPECT_TRUE(contains(many.out, "264 of 300 run, which is what an H200 holds")) << many.out;
  EXPECT_TRUE(contains(many.out, "Launch at most 264 CTAs of this shape")) << many.out;
}

}  // namespace
}  // namespace tessera::checking
