// What a kernel costs: explain FILE and check --cost name the line, what is wrong with it and what
// helps, as explain does for the library's own kernels.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/check/call.h"

namespace tessera::checking {
namespace {

class CheckCost : public Check {
 protected:
  static Words call(const std::string& kernel) {
    return launch("costs.ptx", kernel, "2,2", "32,8",
                  {"out=f32[64,64]", "in=f32[64,64]:uniform", "n=i32:64"});
  }
};

TEST_F(CheckCost, ExplainOfAFileNamesTheLineWithBankConflicts) {
  const Ran ran = explain(call("transpose<32>"));
  EXPECT_EQ(ran.code, 0) << ran.err;
  expect_parts(
      ran.out,
      {"Bank conflicts: the load of tile (ld.shared.f32) at tests/check/kernels/costs.cu:16 takes "
       "32",
       "load/store unit", "st.global.f32 of out", "| out[(ty + j) * n + tx] = tile",
       "256 threads per block", "redicted", "pad its rows by one"});
}

TEST_F(CheckCost, PaddedRowsHaveNone) {
  const Ran ran = explain(call("transpose<33>"));
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(contains(ran.out, "Wavefronts: 0 bank conflicts")) << ran.out;
  EXPECT_FALSE(contains(ran.out, "Bank conflicts: ")) << ran.out;
}

TEST_F(CheckCost, ScatteredStoresAreNamed) {
  const Ran ran = explain(call("transpose_naive"));
  EXPECT_TRUE(contains(ran.out, "costs.cu:22")) << ran.out;
  EXPECT_TRUE(contains(ran.out, "st.global.f32 of out")) << ran.out;
  EXPECT_TRUE(contains(ran.out, " 32 ")) << ran.out;  // sectors a request
}

// A launch that multiplies nothing is not replayed, and four blocks are not many.
TEST_F(CheckCost, WhatIsPredictedSaysHow) {
  const Ran ran = explain(call("transpose_naive"));
  if (contains(ran.out, "Not predicted: ")) GTEST_SKIP() << "no assembler here";
  EXPECT_TRUE(contains(ran.out, "nothing is replayed")) << ran.out;
  EXPECT_FALSE(contains(ran.out, "on its fit set")) << ran.out;
  const Ran json = explain(joined(call("transpose_naive"), {"--json", "-"}));
  const auto object = nlohmann::json::parse(json.out);
  EXPECT_EQ(object["advice"][0]["rule"], "small-launch") << json.out;
  EXPECT_TRUE(contains(object["verdict"].get<std::string>(),
                       "4 blocks for 132 SMs leave at least 128 of them empty"))
      << json.out;
  EXPECT_FALSE(contains(json.out, "latencies and barriers")) << json.out;
}

TEST_F(CheckCost, CheckShowsItBelowTheFindings) {
  const Ran ran = check(joined(call("transpose<32>"), {"--cost", "--gpu", "a100"}));
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_LT(ran.out.find("clean: no finding"), ran.out.find("Bank conflicts: ")) << ran.out;
  EXPECT_TRUE(contains(ran.out, "rates of a100")) << ran.out;
  const Ran json = check(joined(call("transpose<32>"), {"--cost", "--json", "-"}));
  const auto object = nlohmann::json::parse(json.out);
  EXPECT_EQ(object["clean"], true);
  EXPECT_EQ(object["cost"]["wavefronts"]["conflicts"], 3968);
  EXPECT_EQ(object["cost"]["lines"][0]["line"], 16);
  EXPECT_FALSE(contains(check(call("transpose<32>")).out, "Bank conflicts"));
}

TEST_F(CheckCost, WhatDoesNotEndIsOneSentence) {
  Words words = call("transpose<32>");
  words[words.size() - 1] = "n=i32:65";
  const Ran ran = explain(words);
  EXPECT_EQ(ran.code, 1);
  EXPECT_TRUE(contains(ran.err, "out of bounds")) << ran.err;
}

}  // namespace
}  // namespace tessera::checking
