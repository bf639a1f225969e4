// What a kernel costs that multiplies nothing: copies, histograms, reductions. Its sentences speak
// of what it does, and never of products.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/check/call.h"

namespace tessera::checking {
namespace {

class CostOfPatterns : public Check {
 protected:
  static Ran explain(const std::string& kernel, const std::string& grid, const std::string& block,
                     const Words& arguments) {
    return Check::explain(launch("patterns.ptx", kernel, grid, block, arguments));
  }

  // One line, so that parts are found wherever lines end.
  static void expect_says(const Ran& ran, const Words& parts, const Words& absent = {}) {
    EXPECT_EQ(ran.code, 0) << ran.err;
    std::string text;
    for (const char c : ran.out) {
      if (c != '\n' && (c != ' ' || !text.ends_with(' '))) text += c;
      if (c == '\n' && !text.ends_with(' ')) text += ' ';
    }
    expect_parts(text, parts, absent);
  }
};

const Words kProducts = {"multipl", "FMA", "operand", "product"};

TEST_F(CostOfPatterns, OneFieldOfAnArrayOfStructs) {
  const Ran ran = explain("one_field", "16", "256",
                          {"out=f32[4096]", "particles=f32[32768]:uniform", "n=i32:4096"});
  expect_says(ran,
              {"Device memory: the load of particles (ld.global.f32) at "
               "tests/check/kernels/patterns.cu:7 touches 32 sectors per request where 4 would do: "
               "neighbouring lanes are 32 bytes or more apart, and no lane asks for 78 % of the "
               "bytes that device memory moves (89 % of the sectors' bytes)",
               "struct of arrays", "16 blocks for 132 SMs"},
              {"too thin", "only fewer bytes"});
}

// The stride is part of an address, and yet nothing that is read.
TEST_F(CostOfPatterns, AStride) {
  const Ran ran = explain("strided", "16", "256",
                          {"out=f32[4096]", "in=f32[16384]:uniform", "n=i32:4096", "stride=i32:4"});
  expect_says(ran,
              {"Device memory: the load of in (ld.global.f32) at "
               "tests/check/kernels/patterns.cu:54 touches 16 sectors per request where 4 would "
               "do: neighbouring lanes are about 16 bytes apart, and no lane asks for 60 %"},
              kProducts);
}

TEST_F(CostOfPatterns, FieldsOneByOneWasteNoBytes) {
  const Ran ran =
      explain("sums", "16", "256", {"out=f32[4096]", "points=f32[16384]:uniform", "n=i32:4096"});
  expect_says(ran,
              {"so that fewer bytes make it faster",
               "touches 16 sectors per request where 4 would do: "
               "other lines load the rest of the same sectors, word by word",
               "float4"},
              {"no lane asks for", "about 16 bytes apart", "only fewer bytes"});
}

TEST_F(CostOfPatterns, OfAVectorSumAllIsWell) {
  const Ran ran =
      explain("add", "16", "256",
              {"c=f32[4096]", "a=f32[4096]:uniform", "b=f32[4096]:uniform", "n=i32:4096"});
  expect_says(ran,
              {"Device memory: lanes ask for what device memory moves, so that only fewer bytes "
               "make it faster; the largest part, 33 % of the sectors' bytes, is the load of",
               "ld.global.f32 of a", "ld.global.f32 of b", "st.global.f32 of c", "narrower type"},
              kProducts);
}

TEST_F(CostOfPatterns, LanesThatUpdateTwoCounters) {
  const Words arguments = {"bins=u32[2]:zeros", "in=u32[4096]:iota", "n=i32:4096"};
  expect_says(explain("histogram", "16", "256", arguments),
              {"Atomics on one address: the atomic of bins (atom.global.add.u32) at "
               "tests/check/kernels/patterns.cu:15 has 16 of a warp's 32 lanes at one address",
               "one after another and take ", "keep a block's counters in shared memory"},
              kProducts);
  expect_says(explain("shared_histogram", "16", "256", arguments),
              {"the atomic of mine (atom.shared.add.u32) at tests/check/kernels/patterns.cu:22 has "
               "16 of a warp's 32 lanes",
               "each warp counters of its own"},
              kProducts);
}

TEST_F(CostOfPatterns, OddLanesOnly) {
  const Ran ran =
      explain("odd_lanes", "16", "256", {"out=i32[4096]", "in=i32[4096]:iota", "n=i32:4096"});
  expect_says(ran,
              {"Issue slots: of the issued instructions", "of a warp's 32 lanes work on average",
               "tests/check/kernels/patterns.cu:31, where 16 work", "threadIdx.x / 32"},
              kProducts);
}

TEST_F(CostOfPatterns, AReductionThatMeetsAtEachStep) {
  const Ran ran = explain("reduce", "16", "256", {"out=f32[16]", "in=f32[4096]:uniform"});
  expect_says(ran,
              {"Shared-memory accesses: ", "waits at a barrier every", "__shfl_down_sync",
               "instructions", "lanes work on average"},
              kProducts);
}

TEST_F(CostOfPatterns, AProductOfMatricesIsToldSo) {
  const Ran ran =
      explain("multiply", "4,4", "16,16",
              {"c=f32[64,64]", "a=f32[64,64]:uniform", "b=f32[64,64]:uniform", "n=i32:64"});
  expect_says(ran, {"Each FMA asks global memory 2.02 times", "Stage tiles in shared memory"});
}

TEST_F(CostOfPatterns, ProgramsGetTheSame) {
  const Words histogram = launch("patterns.ptx", "histogram", "16", "256",
                                 {"bins=u32[2]:zeros", "in=u32[4096]:iota", "n=i32:4096"});
  const Ran ran = Check::explain(joined(histogram, {"--lines", "99", "--json", "-"}));
  const auto object = nlohmann::json::parse(ran.out);
  EXPECT_EQ(object["multiplies"], false);
  EXPECT_EQ(object["limited_by"], "atomics on one address");
  EXPECT_EQ(object["advice"][0]["rule"], "atomic-contention");
  int lanes = 0;
  for (const auto& line : object["lines"]) lanes += line["global"]["same_address_lanes"].get<int>();
  EXPECT_EQ(lanes, 16 * 128);
}

}  // namespace
}  // namespace tessera::checking
