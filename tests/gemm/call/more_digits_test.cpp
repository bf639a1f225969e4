// TF32 is a permission to round: kernels of FP32 take batches that those of TF32 do not take at
// once. They also take products whose operands would be split into terms.
#include <gtest/gtest.h>

#include "gemm/plan/plan.h"
#include "lab/verify/verify.h"
#include "tests/support/test_device.h"

namespace tessera {
namespace {

Problem batch_of(const char* layout, Order order, std::int64_t gap, double beta) {
  Problem p{.m = 33, .n = 18, .k = 21, .types = kTf32Types, .order = order, .beta = beta};
  set_layout(p, layout);
  p = with_default_ld(p);
  for (std::int64_t* ld : {&p.lda, &p.ldb, &p.ldc, &p.ldd}) *ld += gap;
  p.batch = {.kind = BatchKind::kStrided,
             .count = 4,
             .stride_a = view_a(p).span() + gap,
             .stride_b = view_b(p).span(),
             .stride_c = view_c(p).span(),
             .stride_d = view_d(p).span() + gap};
  return p;
}

TEST(MoreDigits, KernelsOfFp32MultiplyBatchesOfTf32) {
  for (const char* kernel : {"simt_f32_sm75/64x64", "small_f32/16x16", "simt_f32_direct/128x128"}) {
    const KernelChoice choice = choose_kernels(kernel).front();
    for (Problem problem :
         {batch_of("NN", Order::kColumnMajor, 0, 0), batch_of("NT", Order::kRowMajor, 3, 1),
          batch_of("TN", Order::kRowMajor, 4, -1)}) {
      for (int i = 0; i < 2; ++i) {
        const gemm::PlanOptions options{.kernel = choice};
        const gemm::Plan plan =
            gemm::plan(problem, {}, gemm::limits_of(small_test_device().info()), options);
        EXPECT_EQ(plan.rounds(), 1) << kernel;
        EXPECT_EQ(plan.problem.types, kTf32Types) << "the caller's";
        const lab::VerifyResult result =
            lab::verify(small_test_device(), choice, problem, {.checks = !test_on_cuda()});
        EXPECT_TRUE(result.ok()) << kernel << ": " << result.reason;
        problem.batch = {.kind = BatchKind::kPointers, .count = 4, .alignment = 8};
      }
    }
  }
}

TEST(MoreDigits, KernelsOfFp32MultiplyWhatWouldBeSplitIntoTerms) {
  const gemm::DeviceLimits hopper{.sm = 90, .sms = 132, .l2_bytes = 50 << 20};
  const Problem tiny = with_default_ld({.m = 33, .n = 18, .k = 21, .types = kF16x3Types});
  EXPECT_EQ(gemm::plan(tiny, {}, hopper).kernel().types, kF32Types);
  for (const char* kernel : {"simt_f32_sm75/64x64", "simt_f32_direct/128x128"}) {
    const KernelChoice choice = choose_kernels(kernel).front();
    const lab::VerifyResult result =
        lab::verify(small_test_device(), choice, tiny, {.checks = !test_on_cuda()});
    EXPECT_TRUE(result.ok()) << kernel << ": " << result.reason;
  }
}

TEST(MoreDigits, TheLibraryChoosesThemForBatchesAlone) {
  const gemm::DeviceLimits hopper{.sm = 90, .sms = 132, .l2_bytes = 50 << 20};
  Problem problem = with_default_ld({.m = 72, .n = 87, .k = 135, .types = kTf32Types});
  problem.batch = {.kind = BatchKind::kStrided,
                   .count = 5485,
                   .stride_a = 72 * 135,
                   .stride_b = 87 * 135,
                   .stride_d = 72 * 87};
  const gemm::Plan odd_rows = gemm::plan(problem, {}, hopper);
  EXPECT_EQ(odd_rows.rounds(), 1) << odd_rows.kernel().name;
  Problem tiny = with_default_ld({.m = 16, .n = 16, .k = 16, .types = kTf32Types});
  tiny.batch = {.kind = BatchKind::kPointers, .count = 5485, .alignment = 4};
  EXPECT_EQ(gemm::plan(tiny, {}, hopper).kernel().types, kF32Types);
  problem.batch = {};
  EXPECT_EQ(gemm::plan(problem, {}, hopper).kernel().types, kTf32Types);
  const gemm::PlanOptions named{.kernel = choose_kernels("simt_f32_direct/128x128").front()};
  EXPECT_THROW(gemm::plan(problem, {}, hopper, named), StatusError);
}

}  // namespace
}  // namespace tessera
