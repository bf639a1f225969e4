// Products whose sums do not fit the workspace: in parts of rows of D, verified on the virtual GPU.
#include <gtest/gtest.h>

#include "gemm/plan/plan.h"
#include "lab/verify/verify.h"
#include "tests/support/test_device.h"

namespace tessera {
namespace {

constexpr std::int64_t kLimit = 130000;  // 128 rows of 224 sums fit, 256 do not

Problem with_epilogue(const Types& types, Order order, const char* layout, const char* epilogue) {
  Problem p{.m = 300, .n = 200, .k = 20, .types = types, .order = order, .beta = -0.5};
  if (order == Order::kColumnMajor) std::swap(p.m, p.n);
  set_layout(p, layout);
  p.epilogue = parse_epilogue(epilogue);
  p = with_default_ld(p);
  p.ldc += 8, p.ldd += 5;
  return p;
}

TEST(ByRows, SumsThatDoNotFitAreMadeInParts) {
  for (const Types& types : {kBf16Types, kF16Types}) {
    for (const Order order : {Order::kRowMajor, Order::kColumnMajor}) {
      for (const char* layout : {"NN", "NT", "TN", "TT"}) {
        for (const char* epilogue : {"scale_row+bias_col+gelu", "scale_col+bias_row"}) {
          const Problem p = with_epilogue(types, order, layout, epilogue);
          const gemm::PlanOptions options{.workspace_limit = kLimit};
          const gemm::Plan plan = gemm::plan(p, {}, gemm::limits_of(test_device().info()), options);
          EXPECT_LE(plan.workspace_bytes(), kLimit);
          EXPECT_TRUE(plan.offers.front().decision_text().ends_with("in 3 parts of rows"))
              << plan.offers.front().decision_text();
          lab::VerifyOptions how{.checks = !test_on_cuda(), .plan = options};
          const KernelChoice choice{&plan.kernel(), std::string(plan.row().variant)};
          const lab::VerifyResult result = lab::verify(test_device(), choice, p, how);
          EXPECT_TRUE(result.ok()) << layout << ' ' << name_of(order) << ' ' << epilogue << ' '
                                   << plan.kernel().name << ": " << result.reason;
        }
      }
    }
  }
}

// Large sums: the fewest parts, and never more than a limit allows.
TEST(ByRows, TakesTheFewestPartsThatFit) {
  Problem p{.m = 20000, .n = 6000, .k = 64, .types = kBf16Types, .order = Order::kRowMajor};
  p.epilogue = parse_epilogue("scale_row");
  const auto planned = [&](std::int64_t limit) {
    return gemm::plan(p, {}, {.sm = 90, .sms = 132, .l2_bytes = 50 << 20},
                      {.workspace_limit = limit});
  };
  EXPECT_EQ(planned(gemm::kAnyWorkspace).workspace_bytes(), 20000LL * 6016 * 4 - 16 * 4);
  for (const std::int64_t mebibytes : {256, 128, 64, 32, 4}) {
    const gemm::Plan plan = planned(mebibytes << 20);
    EXPECT_LE(plan.workspace_bytes(), mebibytes << 20);
    EXPECT_GT(plan.workspace_bytes(), (mebibytes << 20) / 3) << "fewer parts would do";
    // The cost is that of all parts; smaller sums may stay in the L2, which gains a little.
    EXPECT_GT(plan.offers.front().cost.total(),
              0.9 * planned(gemm::kAnyWorkspace).offers.front().cost.total());
  }
  EXPECT_THROW(planned(1 << 20), StatusError) << "128 rows do not fit";
  p.batch = {
      .kind = BatchKind::kStrided, .count = 2, .stride_a = 20000 * 64, .stride_d = 20000 * 6000};
  p.batch.stride_b = 64 * 6000;
  EXPECT_THROW(planned(64 << 20), StatusError) << "products of a batch are not cut";
}

}  // namespace
}  // namespace tessera
