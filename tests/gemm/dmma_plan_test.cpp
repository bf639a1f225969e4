// How an FP64 product on tensor cores is planned: whole tiles in waves, split ones with a second
// launch that adds their partial sums, within the workspace that there is.
#include <gtest/gtest.h>

#include <cstring>

#include "gemm/plan/plan.h"
#include "kernels/families/dmma/params.h"
#include "launch/code_arch.h"

namespace tessera {
namespace {

using gemm::Policy;

constexpr gemm::DeviceLimits kHopper{.sm = 90, .sms = 132}, kAmpere{.sm = 80, .sms = 108};

gemm::Plan plan_of(const char* kernel, std::int64_t m, std::int64_t n, std::int64_t k,
                   gemm::PlanOptions options = {}, const gemm::DeviceLimits& limits = kHopper) {
  options.kernel = choose_kernels(kernel).front();
  const Problem problem{.m = m, .n = n, .k = k, .types = kF64Types, .order = Order::kRowMajor};
  return gemm::plan(with_default_ld(problem), {}, limits, options);
}

dmma_f64::DmmaParams params_of(const gemm::Step& planned) {
  dmma_f64::DmmaParams params;
  EXPECT_EQ(planned.launch.params.size(), sizeof params);
  std::memcpy(&params, planned.launch.params.data(), sizeof params);
  return params;
}

TEST(DmmaPlan, WholeTilesAreOneLaunch) {
  const gemm::Plan plan = plan_of("dmma_f64/128x64", 1000, 900, 800, {.split = Policy::kNever});
  ASSERT_EQ(plan.steps.size(), 1u);
  EXPECT_EQ(plan.workspace_bytes(), 0);
  EXPECT_EQ(plan.offers.front().decision_text(), "120 tiles");  // 8 x 15
  const gemm::Step& launch = plan.steps.front();
  EXPECT_EQ(launch.launch.entry, "dmma_f64__128x64_ak_bn");
  EXPECT_EQ(launch.launch.shape.grid, 120);
  const dmma_f64::DmmaParams params = params_of(launch);
  EXPECT_EQ(params.schedule.k_tiles, 50);
  EXPECT_EQ(params.gemm.m, 1000);
}

// 2048 tiles on 264 CTAs: 7 waves of whole ones, and 200 tiles for all of them.
TEST(DmmaPlan, TheLastWaveIsSplit) {
  const gemm::Plan plan = plan_of("dmma_f64/128x64", 4096, 4096, 4096, {.split = Policy::kAlways});
  ASSERT_EQ(plan.steps.size(), 2u);
  EXPECT_EQ(plan.offers.front().decision_text(), "1848 tiles, 200 tiles split in 264 runs");
  // A partial sum of each run, and one more where a run of tails goes on with another tile.
  EXPECT_EQ(plan.workspace_bytes(), std::int64_t{264 + 200} * 128 * 64 * 8);
  const gemm::Step& add = plan.steps[1];
  EXPECT_EQ(add.launch.entry, "dmma_f64__reduce_128x64");
  EXPECT_TRUE(add.launch.shape.starts_early);
  EXPECT_FALSE(plan.steps[0].launch.shape.starts_early);
  EXPECT_EQ(params_of(add).schedule.runs, 264);
}

// Code for SM 8.0 cannot wait for a launch that it overlaps.
TEST(DmmaPlan, OnAmpereNoLaunchStartsEarly) {
  const gemm::Plan plan =
      plan_of("dmma_f64_sm80/128x64", 300, 300, 9000, {.split = Policy::kAlways}, kAmpere);
  ASSERT_EQ(plan.steps.size(), 2u);
  for (const gemm::Step& planned : plan.steps) {
    EXPECT_FALSE(planned.launch.shape.starts_early);
  }
}

TEST(DmmaPlan, WithoutRoomForPartialSumsTilesStayWhole) {
  const std::int64_t wanted = plan_of("dmma_f64/64x64", 128, 128, 100000).workspace_bytes();
  ASSERT_GT(wanted, 0) << "a product that is long in k is split";
  EXPECT_EQ(
      plan_of("dmma_f64/64x64", 128, 128, 100000, {.workspace_limit = wanted}).workspace_bytes(),
      wanted);
  const gemm::Plan within =
      plan_of("dmma_f64/64x64", 128, 128, 100000, {.workspace_limit = wanted - 1});
  EXPECT_EQ(within.workspace_bytes(), 0);
  EXPECT_EQ(within.offers.front().decision_text(), "4 tiles");
}

TEST(DmmaPlan, MoreTilesThanCanBeCountedAreRefused) {
  try {
    plan_of("dmma_f64/64x64", std::int64_t{1} << 37, std::int64_t{1} << 20, 1);
    FAIL() << "planned";
  } catch (const StatusError& error) {
    EXPECT_EQ(error.status().message,
              "m is 137438953472, n is 1048576 and k is 1, but dmma_f64 counts at most 2^30 tiles, "
              "and as many along k");
  }
}

// The thin tiles, for outputs of a few rows or columns; row-major, the kernel's own order.
TEST(DmmaPlan, ThinOutputsTakeThinTiles) {
  const auto best = [](std::int64_t m, std::int64_t n) {
    const Problem problem{.m = m, .n = n, .k = 8192, .types = kF64Types, .order = Order::kRowMajor};
    return gemm::plan(with_default_ld(problem), {}, kHopper).row().variant;
  };
  const std::string tall = best(8192, 16);  // by the model, memory is the limit of both
  EXPECT_TRUE(tall == "128x16" || tall == "64x32") << tall;
  const std::string wide = best(16, 8192);
  EXPECT_TRUE(wide == "16x128" || wide == "32x128") << wide;
}

// 65 rows fill three tiles of 32 by two thirds, and two tiles of 64 by half.
TEST(DmmaPlan, OutputsJustBeyondATileOf64TakeTilesOf32) {
  const auto best = [](std::int64_t m, std::int64_t n) {
    const Problem problem{.m = m, .n = n, .k = 5120, .types = kF64Types, .order = Order::kRowMajor};
    return gemm::plan(with_default_ld(problem), {}, kHopper).row().variant;
  };
  EXPECT_EQ(best(65, 15360), "32x128");
  EXPECT_EQ(best(15360, 65), "128x32");
  EXPECT_EQ(best(64, 15360), "64x64");
}

}  // namespace
}  // namespace tessera
