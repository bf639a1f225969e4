// Products whose sums, repacked operands or terms do not fit the workspace: in parts of D or of k,
// verified on the virtual GPU.
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

TEST(InParts, SumsThatDoNotFitAreMadeInParts) {
  for (const Types& types : {kBf16Types, kF16Types}) {
    for (const Order order : {Order::kRowMajor, Order::kColumnMajor}) {
      for (const char* layout : {"NN", "NT", "TN", "TT"}) {
        for (const char* epilogue : {"scale_row+bias_col+gelu", "scale_col+bias_row"}) {
          const Problem p = with_epilogue(types, order, layout, epilogue);
          const gemm::PlanOptions options{.workspace_limit = kLimit};
          const gemm::Plan plan = gemm::plan(p, {}, gemm::limits_of(test_device().info()), options);
          EXPECT_LE(plan.workspace_bytes(), kLimit);
          const std::string parts = order == Order::kRowMajor ? "rows" : "columns";
          const std::string text = plan.offers.front().decision_text();
          // A real GPU has costs of its own, by which other parts may be cheaper.
          EXPECT_TRUE(text.ends_with("in 3 parts of " + parts) || test_on_cuda()) << text;
          EXPECT_NE(text.find("parts of"), std::string::npos) << text;
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
TEST(InParts, TakesTheFewestPartsThatFit) {
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
              0.85 * planned(gemm::kAnyWorkspace).offers.front().cost.total());
  }
  EXPECT_THROW(planned(1 << 15), StatusError) << "128 x 128 sums do not fit";
  p.batch = {
      .kind = BatchKind::kStrided, .count = 2, .stride_a = 20000 * 64, .stride_d = 20000 * 6000};
  p.batch.stride_b = 64 * 6000;
  EXPECT_THROW(planned(64 << 20), StatusError) << "products of a batch are not cut";
}

const gemm::DeviceLimits kHopper{.sm = 90, .sms = 132, .l2_bytes = 50 << 20};

// Rows at odd multiples of 2 bytes: tensor copies take them repacked alone.
Problem with_odd_rows(std::int64_t m, std::int64_t n, std::int64_t k, const char* layout) {
  Problem p{.m = m, .n = n, .k = k, .types = kBf16Types};
  set_layout(p, layout);
  p = with_default_ld(p);
  p.lda |= 1, p.ldb |= 1;
  return p;
}

TEST(InParts, OperandsAreRepackedInPartsWhereAllOfThemDoNotFit) {
  for (const std::int64_t mebibytes : {64, 32, 16}) {
    const gemm::PlanOptions options{.workspace_limit = mebibytes << 20};
    const gemm::Plan plan = gemm::plan(with_odd_rows(5001, 5003, 5007, "NT"), {}, kHopper, options);
    const gemm::Candidate& taken = plan.offers.front();
    EXPECT_EQ(taken.kernel->name, "wgmma_bf16") << mebibytes;
    EXPECT_TRUE(taken.is_in_parts) << taken.decision_text();
    EXPECT_LE(plan.workspace_bytes(), mebibytes << 20);
    gemm::PlanOptions as_it_is = options;
    as_it_is.repack = gemm::Policy::kNever;
    const gemm::Plan other =
        gemm::plan(with_odd_rows(5001, 5003, 5007, "NT"), {}, kHopper, as_it_is);
    EXPECT_LT(taken.cost.total(), 0.96 * other.offers.front().cost.total());
  }
}

// What is one launch within the limit stays one: with all the workspace it wants, with a plan that
// needs none, and in a batch.
TEST(InParts, WholeProductsStayWhole) {
  EXPECT_FALSE(
      gemm::plan(with_odd_rows(5001, 5003, 5007, "TN"), {}, kHopper).offers.front().is_in_parts);
  Problem aligned = with_odd_rows(8192, 8192, 8192, "TN");
  aligned.lda = aligned.ldb = 8192;
  EXPECT_FALSE(gemm::plan(aligned, {}, kHopper, {.workspace_limit = 0}).offers.front().is_in_parts);
}

// Each layout and order in parts of rows and of columns, by a kernel whose repacked operands do not
// fit as a whole.
TEST(InParts, PartsOfBothSidesMakeAllOfD) {
  for (const Order order : {Order::kRowMajor, Order::kColumnMajor}) {
    for (const char* layout : {"NN", "NT", "TN", "TT"}) {
      Problem p{.m = 290, .n = 410, .k = 70, .types = kBf16Types, .order = order, .beta = 0.5};
      set_layout(p, layout);
      p = with_default_ld(p);
      p.lda = p.ldb = 413, p.ldd += 3, p.ldc += 1;
      const KernelChoice wgmma = choose_kernels("wgmma_bf16/64x64x64_s2_x4").front();
      const gemm::PlanOptions options{.workspace_limit = 80000, .kernel = wgmma};
      const gemm::Plan plan = gemm::plan(p, {}, gemm::limits_of(test_device().info()), options);
      EXPECT_TRUE(plan.offers.front().is_in_parts) << plan.offers.front().decision_text();
      lab::VerifyOptions how{.checks = !test_on_cuda(), .plan = options};
      const lab::VerifyResult result = lab::verify(test_device(), wgmma, p, how);
      EXPECT_TRUE(result.ok()) << layout << ' ' << name_of(order) << ": " << result.reason;
    }
  }
}

// Every part after the first adds to D, and the last one alone has a bias and an activation.
TEST(InParts, PartsOfKAddUp) {
  const KernelChoice terms = choose_kernels("wgmma_f16x3/128x64x32_s8").front();
  for (const Order order : {Order::kRowMajor, Order::kColumnMajor}) {
    for (const char* layout : {"NN", "NT", "TN", "TT"}) {
      for (const double beta : {0.0, -0.5}) {
        Problem p{.m = 129, .n = 66, .k = 600, .types = kF16x3Types, .order = order};
        p.alpha = 2, p.beta = beta;
        set_layout(p, layout);
        if (beta == 0) p.epilogue = parse_epilogue("bias_col+relu");
        p = with_default_ld(p);
        p.lda += 5, p.ldd += 3, p.ldc += 1;
        const gemm::PlanOptions options{.workspace_limit = 250000, .kernel = terms};
        const gemm::Plan plan = gemm::plan(p, {}, gemm::limits_of(test_device().info()), options);
        EXPECT_TRUE(plan.offers.front().decision_text().ends_with("in 3 parts of k"))
            << plan.offers.front().decision_text();
        const lab::VerifyResult result =
            lab::verify(test_device(), terms, p, {.checks = !test_on_cuda(), .plan = options});
        EXPECT_TRUE(result.ok()) << layout << ' ' << name_of(order) << ", beta " << beta << ": "
                                 << result.reason;
      }
    }
  }
}

// The first part would add a C of another type than D's without an epilogue, which no kernel does:
// such a product is cut by rows and columns.
TEST(InParts, ACOfAnotherTypeIsNotAddedAlongK) {
  for (const Types& types : {kF16ToF32Types, kF16x3Types}) {
    for (const double beta : {0.0, 1.0}) {
      Problem p{.m = 8192, .n = 8192, .k = 8192, .types = types};
      p.types.c = ElementType::kF16;
      p.beta = beta;
      p.epilogue = parse_epilogue("relu");
      const gemm::Plan plan = gemm::plan(p, {}, kHopper, {.workspace_limit = 64 << 20});
      EXPECT_LE(plan.workspace_bytes(), 64 << 20);
      const std::string text = plan.offers.front().decision_text();
      EXPECT_TRUE(beta == 0 || text.find("parts of k") == std::string::npos) << text;
    }
  }
}

// Where each of the parts of D would be split into terms, or repacked, several times.
TEST(InParts, LargeProductsOfTermsAreCutAlongK) {
  for (const std::int64_t side : {4096, 8192}) {
    for (const std::int64_t mebibytes : {256, 64}) {
      const Problem p{.m = side, .n = side, .k = side, .types = kF16x3Types};
      const std::int64_t limit = mebibytes << 20;
      const gemm::Plan plan = gemm::plan(p, {}, kHopper, {.workspace_limit = limit});
      const gemm::Candidate& taken = plan.offers.front();
      EXPECT_LE(plan.workspace_bytes(), limit);
      EXPECT_EQ(taken.kernel->name, "wgmma_f16x3");
      const double whole = gemm::plan(p, {}, kHopper).offers.front().cost.total();
      EXPECT_LT(taken.cost.total(), 1.5 * whole) << side << ", " << mebibytes << " MiB";
      if (side == 4096 && mebibytes == 256) continue;
      EXPECT_NE(taken.decision_text().find("parts of k"), std::string::npos)
          << taken.decision_text();
    }
  }
}

}  // namespace
}  // namespace tessera
