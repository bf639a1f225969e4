// How FP32 batches on Hopper's CUDA cores are planned: which config takes which operands, what its
// tensor maps say, and what is refused by name.
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "gemm/multiply.h"
#include "kernels/families/simt/direct_params.h"

namespace tessera {
namespace {

using gemm::Policy;

constexpr gemm::DeviceLimits kH200{.sm = 90, .sms = 132};

// Of a row-major problem A and B are the kernel's own.
Problem batch_of(const char* layout, std::int64_t m, std::int64_t n, std::int64_t k,
                 std::int64_t count) {
  Problem p{.m = m, .n = n, .k = k, .order = Order::kRowMajor};
  set_layout(p, layout);
  p = with_default_ld(p);
  p.batch = {.kind = BatchKind::kStrided,
             .count = count,
             .stride_a = m * k,
             .stride_b = k * n,
             .stride_c = m * n,
             .stride_d = m * n};
  return p;
}

gemm::Plan plan_of(const std::string& kernel, const Problem& problem,
                   gemm::PlanOptions options = {}) {
  if (!kernel.empty()) options.kernel = choose_kernels(kernel).front();
  return gemm::plan(problem, {}, kH200, options);
}

simt_direct::DirectParams params_of(const gemm::PlannedLaunch& planned) {
  simt_direct::DirectParams params;
  EXPECT_EQ(planned.launch.params.size(), sizeof params);
  std::memcpy(&params, planned.launch.params.data(), sizeof params);
  return params;
}

// All products in one launch of whole tiles, whatever the policy: each gets the same bits wherever
// it is.
TEST(DirectPlan, ABatchIsOneColumnOfWholeTiles) {
  const gemm::Plan plan = plan_of("simt_f32_direct/256x128", batch_of("TN", 512, 512, 512, 64),
                                  {.split = Policy::kAlways});
  ASSERT_EQ(plan.launches.size(), 1u);
  EXPECT_FALSE(plan.offers.front().is_for_each);
  EXPECT_EQ(plan.offers.front().decision_text(), "512 tiles");
  EXPECT_EQ(plan.launches[0].launch.shape.grid, 132);
  const simt_direct::DirectParams params = params_of(plan.launches[0]);
  EXPECT_EQ(params.batch.count, 64);
  EXPECT_EQ(params.batch.tiles_m, 2);
  EXPECT_EQ(params.batch.d, 512 * 512 * 4);
  EXPECT_EQ(params.schedule.tiles_m, 128);
  EXPECT_EQ(params.schedule.k_tiles, 64);
  EXPECT_EQ(plan.workspace_bytes(), std::int64_t{132} * 256 * 128 * 4) << "a scratch tile a CTA";
}

// A along k: eight k, every fourth row, the four planes, and the products. B across k: its rows.
TEST(DirectPlan, MapsAreOfAllProducts) {
  Problem problem = batch_of("NN", 520, 264, 96, 5);
  problem.lda = 100, problem.batch.stride_a = 520 * 100 + 4;
  const gemm::Plan plan = plan_of("simt_f32_direct/256x128", problem);
  ASSERT_EQ(plan.launches[0].maps.size(), 2u);
  const TensorMapDesc& a = plan.launches[0].maps[0].desc;
  EXPECT_EQ(a.rank, 4);
  EXPECT_EQ(a.sizes, (std::array<std::uint64_t, 5>{96, 130, 4, 5, 0}));
  EXPECT_EQ(a.strides, (std::array<std::uint64_t, 4>{1600, 400, (520 * 100 + 4) * 4, 0}));
  EXPECT_EQ(a.box, (std::array<std::uint32_t, 5>{8, 64, 4, 1, 0}));
  EXPECT_EQ(a.swizzle, TensorSwizzle::k32B);
  const TensorMapDesc& b = plan.launches[0].maps[1].desc;
  EXPECT_EQ(b.rank, 3);
  EXPECT_EQ(b.sizes, (std::array<std::uint64_t, 5>{264, 96, 5, 0, 0}));
  EXPECT_EQ(b.box, (std::array<std::uint32_t, 5>{128, 8, 1, 0, 0}));
  EXPECT_EQ(b.swizzle, TensorSwizzle::kNone);
  problem.batch.stride_a = 0;
  EXPECT_EQ(plan_of("simt_f32_direct/256x128", problem).launches[0].maps[0].desc.sizes[3], 1u)
      << "all products share A";
}

// What no map describes goes element by element.
TEST(DirectPlan, TheConfigSuitsTheOperands) {
  const auto entry = [](const Problem& problem) {
    return plan_of("simt_f32_direct/256x128", problem).row().entry;
  };
  const std::string maps = "simt_f32_direct__256x128_ak_bn_tma",
                    elements = "simt_f32_direct__256x128_ak_bn_copy";
  const Problem aligned = batch_of("NN", 512, 512, 512, 3);
  EXPECT_EQ(entry(aligned), maps);
  EXPECT_EQ(entry(batch_of("NN", 512, 512, 508, 3)), maps) << "k may be any that is aligned";
  EXPECT_EQ(entry(batch_of("NN", 510, 512, 512, 3)), elements) << "rows of A are taken by fours";
  EXPECT_EQ(entry(batch_of("NN", 512, 512, 510, 3)), elements);
  Problem unaligned = aligned;
  unaligned.batch.stride_b += 2;
  EXPECT_EQ(entry(unaligned), elements);
  unaligned.batch.stride_b += 2;
  EXPECT_EQ(entry(unaligned), maps);
  Problem pointers = aligned;
  pointers.batch = {.kind = BatchKind::kPointers, .count = 3, .alignment = 16};
  EXPECT_EQ(entry(pointers), elements);
  EXPECT_TRUE(plan_of("simt_f32_direct/256x128", pointers).launches[0].maps.empty());
  Problem sums = aligned;
  sums.k = 0;
  EXPECT_EQ(entry(sums), elements);
  EXPECT_EQ(entry(batch_of("TN", 512, 512, 512, 3)), "simt_f32_direct__256x128_am_bn_tma");
  EXPECT_EQ(entry(batch_of("NT", 512, 512, 512, 3)), "simt_f32_direct__256x128_ak_bk_tma_copy");
}

TEST(DirectPlan, IsChosenForBatchesOfLargeProducts) {
  const auto family = [](const Problem& problem) { return plan_of("", problem).kernel().family; };
  for (const char* layout : {"NN", "NT", "TN", "TT"}) {
    EXPECT_EQ(family(batch_of(layout, 512, 512, 512, 64)), "direct") << layout;
    EXPECT_EQ(family(batch_of(layout, 128, 2048, 64, 256)), "direct") << layout;
    EXPECT_NE(family(batch_of(layout, 16, 16, 16, 4096)), "direct") << layout;
  }
  Problem single = batch_of("NN", 4096, 4096, 4096, 1);
  EXPECT_NE(family(single), "direct");
}

// Microseconds on an H200, row-major (canonical) layouts; the model was fitted to the first four.
TEST(DirectPlan, TheModelIsNearWhatWasMeasured) {
  const auto near = [](const char* kernel, const Problem& problem, double measured) {
    const gemm::Plan plan = plan_of(kernel, problem);
    EXPECT_NEAR(plan.offers.front().cost.total(), measured, measured / 10)
        << kernel << ' ' << layout_of(problem);
  };
  near("simt_f32_direct/256x128", batch_of("NN", 512, 512, 512, 64), 347.4);
  near("simt_f32_direct/256x128", batch_of("TN", 512, 512, 512, 64), 316.2);
  near("simt_f32_direct/128x128", batch_of("NT", 512, 512, 512, 64), 386.0);
  near("simt_f32_direct/256x128", batch_of("TT", 512, 512, 512, 64), 355.5);
  near("simt_f32_direct/128x128", batch_of("NN", 128, 2048, 64, 256), 212.8);
  near("simt_f32_direct/128x128", batch_of("TN", 128, 2048, 64, 256), 200.7);
  near("simt_f32_direct/128x128", batch_of("NT", 128, 2048, 64, 256), 243.9);
  near("simt_f32_direct/128x128", batch_of("TT", 128, 2048, 64, 256), 215.2);
}

TEST(DirectPlan, MoreTilesThanCanBeCountedAreRunOneAfterTheOther) {
  Problem problem = batch_of("NN", 1, 1, 1, (std::int64_t{1} << 30));
  EXPECT_FALSE(plan_of("simt_f32_direct/128x128", problem).offers.front().is_for_each);
  problem.batch.count += 1;
  EXPECT_TRUE(plan_of("simt_f32_direct/128x128", problem).offers.front().is_for_each);
}

}  // namespace
}  // namespace tessera
