// How a product by mma.sync is planned: one entry for all layouts and alignments, whole tiles in
// waves, split ones with a second launch that adds their partial sums as floats.
#include <gtest/gtest.h>

#include <cstring>

#include "gemm/plan/plan.h"
#include "kernels/families/mma/params.h"
#include "launch/code_arch.h"

namespace tessera {
namespace {

using gemm::Policy;

constexpr gemm::DeviceLimits kAmpere{.sm = 80, .sms = 108};

gemm::Plan plan_of(const char* kernel, std::int64_t m, std::int64_t n, std::int64_t k,
                   gemm::PlanOptions options = {}, const char* layout = "NN") {
  options.kernel = choose_kernels(kernel).front();
  Problem problem{
      .m = m, .n = n, .k = k, .types = options.kernel->kernel->types, .order = Order::kRowMajor};
  set_layout(problem, layout);
  return gemm::plan(with_default_ld(problem), {.a = 2, .b = 2, .c = 2, .d = 2}, kAmpere, options);
}

mma::MmaParams params_of(const gemm::Step& planned) {
  mma::MmaParams params;
  EXPECT_EQ(planned.launch.params.size(), sizeof params);
  std::memcpy(&params, planned.launch.params.data(), sizeof params);
  return params;
}

TEST(MmaPlan, WholeTilesAreOneLaunchInEveryLayout) {
  for (const char* layout : {"NN", "NT", "TN", "TT"}) {
    const gemm::Plan plan =
        plan_of("mma_bf16/128x128", 1001, 900, 801, {.split = Policy::kNever}, layout);
    ASSERT_EQ(plan.steps.size(), 1u);
    EXPECT_EQ(plan.workspace_bytes(), 0);
    EXPECT_EQ(plan.offers.front().decision_text(), "64 tiles");  // 8 x 8
    const gemm::Step& launch = plan.steps.front();
    EXPECT_EQ(launch.launch.entry, "mma_bf16__128x128");
    EXPECT_EQ(launch.launch.shape.grid, 64);
    EXPECT_EQ(params_of(launch).schedule.k_tiles, 13);
  }
}

// 1024 tiles on 108 CTAs: nine waves of whole ones, and 52 tiles for all of them.
TEST(MmaPlan, TheLastWaveIsSplit) {
  const gemm::Plan plan = plan_of("mma_f16/128x128", 4096, 4096, 4096, {.split = Policy::kAlways});
  ASSERT_EQ(plan.steps.size(), 2u);
  EXPECT_EQ(plan.offers.front().decision_text(), "864 tiles, 160 tiles split in 216 runs");
  // A partial sum of each run, and one more where a run of tails goes on with another tile.
  EXPECT_EQ(plan.workspace_bytes(), std::int64_t{216 + 160} * 128 * 128 * 4);
  EXPECT_EQ(plan.steps[1].launch.entry, "mma_f16__reduce_128x128");
  EXPECT_EQ(params_of(plan.steps[1]).schedule.runs, 216);
  // Code for SM 8.0 cannot wait for a launch that it overlaps.
  for (const gemm::Step& planned : plan.steps) {
    EXPECT_FALSE(planned.launch.shape.starts_early);
  }
}

TEST(MmaPlan, WithoutRoomForPartialSumsTilesStayWhole) {
  const std::int64_t wanted = plan_of("mma_tf32/64x64", 128, 128, 100000).workspace_bytes();
  ASSERT_GT(wanted, 0) << "a product that is long in k is split";
  const gemm::Plan within =
      plan_of("mma_tf32/64x64", 128, 128, 100000, {.workspace_limit = wanted - 1});
  EXPECT_EQ(within.workspace_bytes(), 0);
  EXPECT_EQ(within.offers.front().decision_text(), "4 tiles");
}

TEST(MmaPlan, SmallOutputsTakeSmallTiles) {
  const auto best = [](std::int64_t size) {
    const Problem problem{
        .m = size, .n = size, .k = size, .types = kBf16Types, .order = Order::kRowMajor};
    return gemm::plan(with_default_ld(problem), {}, kAmpere).row().variant;
  };
  EXPECT_EQ(best(300), "64x64");
  EXPECT_EQ(best(8192), "128x128");
}

TEST(MmaPlan, MoreTilesThanCanBeCountedAreRefused) {
  try {
    plan_of("mma_bf16/64x64", std::int64_t{1} << 37, std::int64_t{1} << 20, 1);
    FAIL() << "planned";
  } catch (const StatusError& error) {
    EXPECT_EQ(error.status().message,
              "m is 137438953472, n is 1048576 and k is 1, but mma_bf16 counts at most 2^30 tiles, "
              "and as many along k");
  }
}

}  // namespace
}  // namespace tessera
