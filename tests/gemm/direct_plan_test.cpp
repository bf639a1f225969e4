// How FP32 batches on Hopper's CUDA cores are planned: which config takes which operands, what its
// tensor maps say, and what is refused by name.
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "gemm/call/multiply.h"
#include "kernels/families/simt/direct_params.h"

namespace tessera {
namespace {

using gemm::Policy;

constexpr gemm::DeviceLimits kH200{.sm = 90, .sms = 132};

// A batch of row-major products: the kernel's A and B are then the problem's.
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

Problem product_of(const char* layout, std::int64_t m, std::int64_t n, std::int64_t k) {
  Problem problem = batch_of(layout, m, n, k, 1);
  problem.batch = {};
  return problem;
}

gemm::Plan plan_of(const std::string& kernel, const Problem& problem,
                   gemm::PlanOptions options = {}) {
  if (!kernel.empty()) options.kernel = choose_kernels(kernel).front();
  return gemm::plan(problem, {}, kH200, options);
}

simt_direct::DirectParams params_of(const gemm::Step& planned) {
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
  ASSERT_EQ(plan.steps.size(), 1u);
  EXPECT_FALSE(plan.offers.front().is_for_each());
  EXPECT_EQ(plan.offers.front().decision_text(), "512 tiles");
  EXPECT_EQ(plan.steps[0].launch.shape.grid, 132);
  const simt_direct::DirectParams params = params_of(plan.steps[0]);
  EXPECT_EQ(params.batch.count, 64);
  EXPECT_EQ(params.batch.tiles_m, 2);
  EXPECT_EQ(params.batch.d, 512 * 512 * 4);
  EXPECT_EQ(params.schedule.tiles_m, 128);
  EXPECT_EQ(params.schedule.k_tiles, 64);
  EXPECT_EQ(plan.workspace_bytes(), 0);
  const gemm::Plan along_k = plan_of("simt_f32_direct/256x128", batch_of("NN", 512, 512, 512, 64));
  EXPECT_EQ(along_k.workspace_bytes(), std::int64_t{132} * 256 * 128 * 4) << "a scratch tile a CTA";
}

// A along k: eight k, every fourth row, the four planes, and the products. B across k: its rows.
TEST(DirectPlan, MapsAreOfAllProducts) {
  Problem problem = batch_of("NN", 520, 264, 96, 5);
  problem.lda = 100, problem.batch.stride_a = 520 * 100 + 4;
  const gemm::Plan plan = plan_of("simt_f32_direct/256x128", problem);
  ASSERT_EQ(plan.steps[0].maps.size(), 2u);
  const TensorMapDesc& a = plan.steps[0].maps[0].desc;
  EXPECT_EQ(a.rank, 4);
  EXPECT_EQ(a.sizes, (std::array<std::uint64_t, 5>{96, 130, 4, 5, 0}));
  EXPECT_EQ(a.strides, (std::array<std::uint64_t, 4>{1600, 400, (520 * 100 + 4) * 4, 0}));
  EXPECT_EQ(a.box, (std::array<std::uint32_t, 5>{8, 64, 4, 1, 0}));
  EXPECT_EQ(a.swizzle, TensorSwizzle::k32B);
  const TensorMapDesc& b = plan.steps[0].maps[1].desc;
  EXPECT_EQ(b.rank, 3);
  EXPECT_EQ(b.sizes, (std::array<std::uint64_t, 5>{264, 96, 5, 0, 0}));
  EXPECT_EQ(b.box, (std::array<std::uint32_t, 5>{128, 8, 1, 0, 0}));
  EXPECT_EQ(b.swizzle, TensorSwizzle::kNone);
  problem.batch.stride_a = 0;
  EXPECT_EQ(plan_of("simt_f32_direct/256x128", problem).steps[0].maps[0].desc.sizes[3], 1u)
      << "all products share A";
}

// Two operands along k: the small one becomes an operand across k, by a launch ahead.
TEST(DirectPlan, ASmallOperandIsRepacked) {
  const Problem problem = product_of("NT", 8192, 64, 8192);
  const gemm::Plan plan = plan_of("simt_f32_direct/256x64", problem);
  EXPECT_EQ(plan.row().entry, "simt_f32_direct__256x64_ak_bn_tma");
  ASSERT_EQ(plan.steps.size(), 3u);
  EXPECT_EQ(plan.steps[0].launch.entry, "simt_f32_direct__repack");
  EXPECT_FALSE(plan.steps[0].launch.shape.starts_early);
  passes::RepackParams repacks;
  std::memcpy(&repacks, plan.steps[0].launch.params.data(), sizeof repacks);
  EXPECT_EQ(repacks.a.tiles, 0);
  EXPECT_EQ(repacks.b.outer, 64);
  EXPECT_EQ(repacks.b.ld, 64);
  const gemm::Step& multiply = plan.steps[1];
  EXPECT_TRUE(multiply.launch.shape.starts_early);
  EXPECT_EQ(params_of(multiply).gemm.b_row, 64);
  EXPECT_EQ(params_of(multiply).gemm.a_row, 8192);
  ASSERT_EQ(multiply.maps.size(), 2u);
  EXPECT_EQ(multiply.maps[0].address.slot, gemm::Slot::kA);
  const gemm::PlannedAddress copy = multiply.maps[1].address;
  EXPECT_EQ(copy.slot, gemm::Slot::kWorkspace);
  EXPECT_EQ(plan.workspace_bytes(), copy.delta + 64 * 8192 * 4);
  EXPECT_EQ(plan.steps[2].launch.entry, "simt_f32_direct__reduce_256x64");

  const auto entry = [&](gemm::PlanOptions options) {
    return plan_of("simt_f32_direct/256x64", problem, options).row().entry;
  };
  EXPECT_EQ(entry({.repack = Policy::kNever}), "simt_f32_direct__256x64_ak_bk_tma_copy");
  EXPECT_EQ(entry({.repack = Policy::kAlways}), "simt_f32_direct__256x64_am_bn_tma");
  const std::int64_t too_little = plan.workspace_bytes() - 1;
  EXPECT_EQ(entry({.workspace_limit = too_little}), "simt_f32_direct__256x64_ak_bk_tma_copy");
}

// Tiles without rows for any alignment refuse what their maps do not describe.
TEST(DirectPlan, ThinTilesWantMaps) {
  Problem pointers = batch_of("NN", 512, 64, 512, 3);
  pointers.batch = {.kind = BatchKind::kPointers, .count = 3, .alignment = 16};
  EXPECT_THROW(plan_of("simt_f32_direct/256x64", pointers), StatusError);
  EXPECT_THROW(plan_of("simt_f32_direct/64x256", product_of("NN", 64, 512, 0)), StatusError);
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
  EXPECT_TRUE(plan_of("simt_f32_direct/256x128", pointers).steps[0].maps.empty());
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
}

// Single products where repacking would move many bytes for few products, or where the store of one
// tile should overlap with the next one. Row-major.
TEST(DirectPlan, IsChosenForThinProducts) {
  const auto taken = [](const char* layout, std::int64_t m, std::int64_t n, std::int64_t k) {
    const gemm::Plan plan = plan_of("", product_of(layout, m, n, k));
    return plan.kernel().name + "/" + plan.row().variant;
  };
  EXPECT_EQ(taken("NN", 256, 256, 65536), "simt_f32_direct/256x128");
  EXPECT_EQ(taken("TT", 256, 256, 65536), "simt_f32_direct/256x64");
  EXPECT_EQ(taken("NN", 128, 128, 262144), "simt_f32_direct/128x128");
  for (const char* layout : {"NN", "NT"}) {
    EXPECT_EQ(taken(layout, 8192, 64, 8192), "simt_f32_direct/256x64") << layout;
  }
  for (const char* layout : {"NN", "NT", "TN", "TT"}) {
    for (const std::int64_t size : {512, 1023, 1024, 2048, 4096, 8192}) {
      const std::string kernel = taken(layout, size, size, size);
      EXPECT_TRUE(kernel.starts_with("simt_f32/")) << layout << ' ' << size << ' ' << kernel;
    }
    // Rows of D that take no vectors go through shared memory here, through scratch tiles there.
    for (const std::int64_t size : {2047, 4095}) {
      EXPECT_EQ(taken(layout, size, size, size), "simt_f32_direct/256x128")
          << layout << ' ' << size;
    }
    EXPECT_EQ(taken(layout, 64, 100000, 64), "simt_f32_direct/64x128") << layout;
    EXPECT_EQ(taken(layout, 1024, 50257, 768), "simt_f32_direct/256x128") << layout;
  }
}

TEST(DirectPlan, MoreTilesThanCanBeCountedAreRunOneAfterTheOther) {
  Problem problem = batch_of("NN", 1, 1, 1, (std::int64_t{1} << 30));
  EXPECT_FALSE(plan_of("simt_f32_direct/128x128", problem).offers.front().is_for_each());
  problem.batch.count += 1;
  EXPECT_TRUE(plan_of("simt_f32_direct/128x128", problem).offers.front().is_for_each());
}

}  // namespace
}  // namespace tessera
