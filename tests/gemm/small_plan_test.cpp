// How batches of small products are planned: grids, limits, and when they are chosen.
#include <gtest/gtest.h>

#include <string>

#include "gemm/call/multiply.h"
#include "kernels/families/small/config.h"
#include "kernels/families/small/params.h"

namespace tessera {
namespace {

constexpr gemm::DeviceLimits kH200{.sm = 90, .sms = 132};

Problem batch_of(const Types& types, std::int64_t m, std::int64_t n, std::int64_t k,
                 std::int64_t count) {
  Problem p = with_default_ld({.m = m, .n = n, .k = k, .types = types});
  if (count > 1) {
    p.batch = {.kind = BatchKind::kStrided,
               .count = count,
               .stride_a = m * k,
               .stride_b = k * n,
               .stride_c = m * n,
               .stride_d = m * n};
  }
  return p;
}

gemm::Plan plan_of(const std::string& kernel, const Problem& problem,
                   gemm::DeviceLimits limits = kH200) {
  gemm::PlanOptions options;
  if (!kernel.empty()) options.kernel = choose_kernels(kernel).front();
  return gemm::plan(problem, {}, limits, options);
}

// A CTA has as many tiles at a time as it has teams, and no more CTAs start than run at once.
TEST(SmallPlan, TheGridIsNoLargerThanWhatRuns) {
  const auto grid = [](const char* kernel, std::int64_t extent, std::int64_t count) {
    const gemm::Plan plan = plan_of(kernel, batch_of(kF32Types, extent, extent, 16, count));
    EXPECT_EQ(plan.steps.size(), 1u);
    return plan.steps.front().launch.shape.grid;
  };
  EXPECT_EQ(grid("small_f32/16x16", 16, 5), 2) << "five tiles, four teams";
  EXPECT_EQ(grid("small_f32/16x16", 17, 5), 5) << "twenty tiles";
  EXPECT_EQ(grid("small_f32/64x64", 64, 5), 5);
  const auto& config = small::kF32[0].config;
  EXPECT_EQ(grid("small_f32/16x16", 16, 1 << 20), 132 * config.ctas);
}

// Beyond 2^31 - 1 tiles the products are run one after the other.
TEST(SmallPlan, TilesAreCounted) {
  const auto is_for_each = [](std::int64_t extent, std::int64_t count) {
    return plan_of("small_f32/16x16", batch_of(kF32Types, extent, 1, 1, count))
        .offers.front()
        .is_for_each();
  };
  EXPECT_FALSE(is_for_each(16, (1LL << 31) - 1));
  EXPECT_FALSE(is_for_each(17, (1LL << 30) - 1));
  EXPECT_TRUE(is_for_each(17, 1LL << 30));
}

TEST(SmallPlan, Fp64NeedsItsTensorCores) {
  const Problem problem = batch_of(kF64Types, 16, 16, 16, 100);
  EXPECT_NO_THROW(plan_of("small_f64", problem));
  try {
    plan_of("small_f64", problem, {.sm = 120, .sms = 100});
    ADD_FAILURE() << "took it";
  } catch (const StatusError& error) {
    EXPECT_EQ(error.status().message,
              "kernel is small_f64, but an sm_120 has no FP64 tensor cores");
  }
}

TEST(SmallPlan, IsChosenForSmallProductsInEveryType) {
  for (const Types& types : {kF32Types, kF64Types, kBf16Types, kF16Types, kBf16ToF32Types}) {
    for (const int extent : {7, 16, 30, 32}) {
      const gemm::Plan plan = plan_of("", batch_of(types, extent, extent, extent, 5000));
      EXPECT_EQ(plan.kernel().family, "small") << plan.kernel().name << ' ' << extent;
    }
  }
}

TEST(SmallPlan, IsNotChosenForLargeOnes) {
  for (const Types& types : {kF32Types, kF64Types, kBf16Types, kF16Types, kBf16ToF32Types}) {
    for (const int extent : {1024, 4096}) {
      for (const int count : {1, 16}) {
        const gemm::Plan plan = plan_of("", batch_of(types, extent, extent, extent, count));
        EXPECT_NE(plan.kernel().family, "small") << plan.kernel().name << ' ' << extent;
      }
    }
    EXPECT_NE(plan_of("", batch_of(types, 16, 16, 100000, 2)).kernel().family, "small")
        << "two teams alone would be at work";
    EXPECT_NE(plan_of("", batch_of(types, 16, 16, 16, 1)).kernel().family, "small");
  }
}

// Operands that are copied element by element cost more.
TEST(SmallPlan, AlignmentIsPartOfTheCost) {
  Problem problem = batch_of(kF32Types, 32, 32, 32, 1000);
  const double aligned = plan_of("small_f32/32x32", problem).offers.front().cost.total();
  problem.lda = 33, problem.batch.stride_a = 33 * 32;
  EXPECT_GT(plan_of("small_f32/32x32", problem).offers.front().cost.total(), aligned);
}

}  // namespace
}  // namespace tessera
