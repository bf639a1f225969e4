// Decisions by their names: each way that a plan considers is planned again, step by step the same;
// a decision that the model would not make is right, too; and what no kernel can do is refused.
#include "gemm/decision.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "base/divide.h"
#include "gemm/plan/plan.h"
#include "lab/verify/verify.h"
#include "tests/support/test_device.h"

namespace tessera {
namespace {

constexpr gemm::DeviceLimits kGpu{.sm = 90, .sms = 132, .l2_bytes = 50 << 20};

// A random problem, with sizes on both sides of the limits of tiles, splits and remainders.
Problem drawn(std::mt19937& random) {
  const auto from = [&](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  };
  constexpr Types kTypes[] = {kF32Types,  kF64Types, kTf32Types,
                              kBf16Types, kF16Types, kBf16ToF32Types};
  constexpr const char* kLayouts[] = {"NN", "NT", "TN", "TT"};
  const auto size = [&] { return from(0, 2) == 0 ? from(1, 90) : from(1, 6000); };
  Problem p{.m = size(), .n = from(0, 4) ? size() : 1, .k = size()};
  p.types = kTypes[from(0, 5)];
  p.order = from(0, 1) ? Order::kRowMajor : Order::kColumnMajor;
  set_layout(p, kLayouts[from(0, 3)]);
  if (from(0, 1)) p.m = round_up(p.m, 16), p.k = round_up(p.k, 16);
  if (from(0, 1) && p.n > 1) p.n = round_up(p.n, 16);
  p = with_default_ld(p);
  if (from(0, 4) == 0) {
    p.batch = {.kind = BatchKind::kStrided, .count = from(2, 9)};
    p.batch.stride_a = view_a(p).span() + 1, p.batch.stride_b = view_b(p).span() + 1;
    p.batch.stride_c = p.batch.stride_d = view_d(p).span() + 1;
  }
  if (from(0, 5) == 0) p.epilogue = parse_epilogue("bias_row+relu");
  return p;
}

void expect_same_steps(const gemm::Plan& again, const gemm::Candidate& offer,
                       const Problem& problem) {
  const gemm::Candidate& taken = again.offers.front();
  EXPECT_EQ(taken.decision, offer.decision) << offer.name() << " became " << taken.name();
  EXPECT_EQ(taken.row, offer.row) << offer.name();
  EXPECT_EQ(taken.temps, offer.temps) << offer.name();
  EXPECT_EQ(taken.decision_text(), offer.decision_text());
  EXPECT_DOUBLE_EQ(taken.cost.total(), offer.cost.total())
      << offer.name() << ' ' << layout_of(problem) << ' ' << problem.m << ' ' << problem.n;
}

constexpr const char* kWords[] = {"each",      "exchanged",    "repack=a", "repack=b",
                                  "repack=ab", "parts=",       "warps=",   "lanes=",
                                  "rows=",     "whole_tiles=", "whole"};

TEST(Decision, EveryWayIsPlannedAgainByItsName) {
  std::mt19937 random(20261126);
  std::set<std::string> words;
  int ways = 0;
  for (int i = 0; i < 150; ++i) {
    const Problem problem = drawn(random);
    const gemm::PlanOptions options{.workspace_limit =
                                        i % 2 ? gemm::kAnyWorkspace : std::int64_t{192} << 20};
    for (const gemm::Candidate& offer : gemm::plan(problem, {}, kGpu, options).offers) {
      gemm::PlanOptions named = options;
      named.kernel = choose_kernels(offer.name()).front();
      expect_same_steps(gemm::plan(problem, {}, kGpu, named), offer, problem);
      for (const char* word : {"each", "exchanged", "repack=a", "repack=b", "repack=ab",
                               "parts=", "warps=", "lanes=", "rows=", "whole_tiles=", "whole"}) {
        if (offer.name().find(word) != std::string::npos) words.insert(word);
      }
      ++ways;
    }
  }
  for (const char* word : kWords) EXPECT_TRUE(words.contains(word)) << word << " was not drawn";
  EXPECT_GT(ways, 1000);
}

// The steps come from the decision alone: options that would lead elsewhere change nothing.
TEST(Decision, OptionsDoNotChangeIt) {
  const Problem problem{.m = 1000, .n = 1001, .k = 4100};
  const gemm::Candidate best = gemm::plan(problem, {}, kGpu).offers.front();
  for (const gemm::Policy policy : {gemm::Policy::kNever, gemm::Policy::kAlways}) {
    gemm::PlanOptions other{.split = policy, .remainder = policy};
    other.kernel = choose_kernels(best.name()).front();
    expect_same_steps(gemm::plan(problem, {}, kGpu, other), best, problem);
  }
}

TEST(Decision, OneThatNoModelMakesIsRight) {
  const std::unique_ptr<Device> gpu = make_virtual_device({.sms = 3});
  const auto verify = [&](const char* name, Problem p, const char* layout) {
    set_layout(p, layout);
    const lab::VerifyResult result =
        lab::verify(*gpu, choose_kernels(name).front(), with_default_ld(p), {.checks = true});
    EXPECT_TRUE(result.ok()) << name << ": " << result.reason;
  };
  const Problem fp32{.m = 130, .n = 70, .k = 300, .order = Order::kRowMajor};
  verify("simt_f32/64x64:repack=ab:runs=3", fp32, "NT");
  verify("simt_f32/64x64:runs=2", fp32, "TN");
  verify("simt_f32/64x32:repack=ab:rows=0-64:columns=0-70+64x64:rows=64-130:columns=0-70:runs=3",
         fp32, "NT");
  Problem fp64 = fp32;
  fp64.types = kF64Types;
  verify("dmma_f64/64x64:runs=2", fp64, "NN");
  Problem bf16{.m = 128, .n = 64, .k = 512, .order = Order::kRowMajor};
  bf16.types = kBf16ToF32Types;
  verify("wgmma_bf16_f32/64x32x128_s6_coop:repack=b:parts=4", bf16, "TN");
}

std::string refusal(const std::string& name, const Problem& problem) {
  try {
    gemm::plan(problem, {}, kGpu, {.kernel = choose_kernels(name).front()});
  } catch (const StatusError& error) {
    EXPECT_EQ(error.status().code, StatusCode::kBadArgument);
    return error.what();
  }
  return "";
}

TEST(Decision, WrongWordsAreNamed) {
  const Problem problem{.m = 4096, .n = 4096, .k = 4096};
  const auto says = [&](const std::string& decision, const std::string& part) {
    const std::string why = refusal("simt_f32/256x128:" + decision, problem);
    EXPECT_NE(why.find(part), std::string::npos) << decision << ": " << why;
  };
  says("split", "with 'split', but a word must be one of: whole,");
  says("repack=c", "with 'repack=c'");
  says("runs=", "numbers must be from 0 to 2^31 - 1");
  says("runs=-1", "numbers must be from 0 to 2^31 - 1");
  says("runs=2147483648", "numbers must be from 0 to 2^31 - 1");
  says("runs=1x", "with 'runs=1x'");
  says("rows=5-5", "the end must be above the beginning");
  says("rows=5", "with 'rows=5'");
  says("rows=0-4096", "rows and columns are those of several pieces");
  says("whole+9x9", "with '9x9', but simt_f32 has no such variant");
  says("whole+128x16+128x16+128x16", "at most three pieces");
}

TEST(Decision, WhatAKernelCannotDoIsRefused) {
  Problem problem{.m = 4096, .n = 4096, .k = 4096};
  set_layout(problem, "NT");  // of columns: rows along m and n
  const auto refuses = [&](const std::string& name) {
    EXPECT_NE(refusal(name, problem).find("but of this problem on this GPU"), std::string::npos)
        << name << ": " << refusal(name, problem);
  };
  refuses("simt_f32/256x128:parts=4");
  refuses("simt_f32/256x128:runs=100000");             // more than CTAs
  refuses("simt_f32/256x128:whole_tiles=1:runs=132");  // no whole wave
  refuses("simt_f32/256x128:whole_tiles=512:runs=132");
  refuses("simt_f32/256x128:repack=a");
  const std::string half = ":rows=0-2048:columns=0-4096";
  refuses("simt_f32/256x128" + half +
          "+128x128:rows=2048-4095:columns=0-4096");  // a row is missing
  refuses("simt_f32/256x128" + half + "+128x128:rows=1920-4096:columns=0-4096");  // some are twice
  // 2000 is no edge of a tile.
  refuses("simt_f32/256x128:rows=0-2000:columns=0-4096+128x128:rows=2000-4096:columns=0-4096");
  const Problem thin{.m = 4096, .n = 1, .k = 4096};
  EXPECT_NE(refusal("simt_f32_vector:lanes=12", thin).find("the kernel would make 'lanes="),
            std::string::npos)
      << refusal("simt_f32_vector:lanes=12", thin);
  problem.types = kF64Types;
  refuses("dmma_f64/64x64:lanes=4");
  EXPECT_NE(refusal("dmma_f64/64x64:each", problem).find("the problem is no batch whose products"),
            std::string::npos);
}

// A plan of the library is for any alpha, 0 included: then there is nothing to split.
TEST(Decision, IsIdleWhereNothingIsMultiplied) {
  Problem p{.m = 300, .n = 200, .k = 100, .order = Order::kRowMajor};
  const gemm::PlanOptions named{
      .kernel = choose_kernels("simt_f32/128x128:whole_tiles=0:runs=18").front()};
  EXPECT_TRUE(gemm::plan(p, {}, kGpu, named).offers.front().decision.list[0].is_split());
  p.alpha = 0;
  EXPECT_FALSE(gemm::plan(p, {}, kGpu, named).offers.front().decision.list[0].is_split());
}

// A handle keeps plans by their options.
TEST(Decision, IsPartOfTheOptionsOfAPlan) {
  const auto options = [](const char* name) {
    return gemm::PlanOptions{.kernel = choose_kernels(name).front()};
  };
  EXPECT_EQ(options("simt_f32:runs=5"), options("simt_f32/256x128:runs=5"));
  EXPECT_FALSE(options("simt_f32:runs=5") == options("simt_f32:runs=6"));
  EXPECT_FALSE(options("simt_f32:whole") == options("simt_f32"));
}

}  // namespace
}  // namespace tessera
