// Products of BF16 with FP32 as FP32 products after a step that converts the BF16 operand,
// whichever it is. Verified under the bound of FP32, on the virtual GPU under all checks.
#include "gemm/rewrites/widen.h"

#include <gtest/gtest.h>

#include <vector>

#include "device/buffer.h"
#include "gemm/call/multiply.h"
#include "gemm/plan/plan.h"
#include "lab/verify/verify.h"
#include "tests/support/test_device.h"

namespace tessera {
namespace {

using enum ElementType;
constexpr Types kBf16A{kBf16, kF32, kF32, kF32, ComputeType::kF32};
constexpr Types kBf16B{kF32, kBf16, kF32, kF32, ComputeType::kF32};

struct MixedForm {
  const char* layout;
  Order order;
  std::int64_t m, n, k;
  int pad;
  double alpha, beta;
  int misalign;
  const char* epilogue;
};
// Whole, ragged and thin ones, and some that read no operand.
constexpr MixedForm kMixedForms[] = {
    {"NN", Order::kColumnMajor, 64, 32, 128, 0, 1, 0, 0, ""},
    {"NT", Order::kRowMajor, 65, 33, 70, 3, -1.5, 0.5, 1, ""},
    {"TN", Order::kRowMajor, 37, 131, 129, 4, 2, 1, 0, "bias_col"},
    {"TT", Order::kColumnMajor, 1, 7, 9, 1, 1, -1, 1, ""},
    {"NN", Order::kRowMajor, 140, 1, 300, 5, 1, 0, 3, "scale_row+gelu"},
    {"TN", Order::kColumnMajor, 1, 1, 41, 0, 1, 0, 0, ""},
    {"NT", Order::kColumnMajor, 33, 2, 1, 2, 1, 0, 1, ""},
    {"NN", Order::kRowMajor, 40, 24, 0, 0, 1, 2, 0, ""},
    {"TT", Order::kColumnMajor, 19, 23, 8, 2, 0, 1, 0, "relu"}};

Problem mixed_problem(const MixedForm& form, const Types& types) {
  Problem p{.m = form.m,
            .n = form.n,
            .k = form.k,
            .types = types,
            .order = form.order,
            .alpha = form.alpha,
            .beta = form.beta};
  set_layout(p, form.layout);
  p = with_default_ld(p);
  p.lda += form.pad, p.ldb += form.pad, p.ldc += 2 * form.pad, p.ldd += form.pad;
  if (*form.epilogue) p.epilogue = parse_epilogue(form.epilogue);
  return p;
}

// By a kernel that multiplies FP32, so that an operand is widened.
void verify_widened(Device& device, const char* kernel, const Problem& problem,
                    lab::VerifyOptions options) {
  options.checks = !test_on_cuda();
  const KernelChoice choice = choose_kernels(kernel).front();
  const lab::VerifyResult result = lab::verify(device, choice, problem, options);
  EXPECT_TRUE(result.ok()) << kernel << ' ' << layout_of(problem) << ' ' << name_of(problem.types)
                           << ' ' << describe(problem.batch) << ' ' << problem.m << 'x' << problem.n
                           << 'x' << problem.k << ": " << result.reason;
  EXPECT_EQ(result.integers, "full");
  EXPECT_LE(result.max_error_ratio, 1);
}

TEST(Widen, EitherOperandInEveryForm) {
  for (const Types& types : {kBf16A, kBf16B}) {
    for (const MixedForm& form : kMixedForms) {
      const Problem p = mixed_problem(form, types);
      for (const char* kernel : {"simt_f32/64x32", "simt_f32_direct/128x128", "simt_f32_sm75/64x64",
                                 "simt_f32_vector", "12_warp_tile"}) {
        lab::VerifyOptions options;
        options.misalign = form.misalign;
        verify_widened(small_test_device(), kernel, p, options);
      }
    }
  }
}

TEST(Widen, TermsOfFp16AreThoseOfTheWidenedOperand) {
  for (Types types : {kBf16A, kBf16B}) {
    types.compute = ComputeType::kF16x3;
    for (const MixedForm& form : kMixedForms) {
      verify_widened(small_test_device(), "wgmma_f16x3", mixed_problem(form, types), {});
    }
  }
}

Problem mixed_batch(Problem p, BatchKind kind, int gap) {
  p.batch = {.kind = kind, .count = 4};
  if (kind == BatchKind::kPointers) {
    p.batch.alignment = 4;
    return p;
  }
  p.batch.stride_a = view_a(p).span() + gap;
  p.batch.stride_b = view_b(p).span() + gap;
  p.batch.stride_c = view_c(p).span() + gap;
  p.batch.stride_d = view_d(p).span() + gap;
  return p;
}

TEST(Widen, BatchesInOneLaunchAndOneAfterTheOther) {
  for (const Types& types : {kBf16A, kBf16B}) {
    for (const MixedForm& form : {kMixedForms[0], kMixedForms[1], kMixedForms[2], kMixedForms[3]}) {
      const Problem one = mixed_problem(form, types);
      for (const int gap : {0, 1}) {
        const Problem p = mixed_batch(one, BatchKind::kStrided, gap);
        for (const char* kernel :
             {"simt_f32/64x32", "simt_f32_direct/128x128", "small_f32/32x32"}) {
          verify_widened(small_test_device(), kernel, p, {});
        }
      }
      if (*form.epilogue) continue;
      const Problem p = mixed_batch(one, BatchKind::kPointers, 0);
      for (const char* kernel : {"simt_f32_sm75/64x64", "small_f32/16x16"}) {
        verify_widened(small_test_device(), kernel, p, {});
      }
    }
  }
}

TEST(Widen, AnOperandThatAllProductsShareIsWidenedOnce) {
  Problem p = mixed_problem(kMixedForms[0], kBf16B);
  p = mixed_batch(p, BatchKind::kStrided, 8);
  p.batch.stride_b = 0;
  verify_widened(small_test_device(), "simt_f32_direct/128x128", p, {});
  const gemm::Plan plan = gemm::plan(p, {}, gemm::limits_of(small_test_device().info()),
                                     {.kernel = choose_kernels("simt_f32_direct/128x128").front()});
  EXPECT_EQ(plan.offers.front().route->temps.front(), 128 * 32 * 4);
}

TEST(Widen, OtherTypesStayAsTheyAre) {
  for (const Types& types : {kF32Types, kBf16Types, kBf16ToF32Types, kF16Types, kS8Types}) {
    EXPECT_EQ(gemm::widened(types), types);
  }
  const Types halves{kF16, kF32, kF32, kF32, ComputeType::kF32};
  EXPECT_FALSE(gemm::check_multiplied(halves).ok());
  EXPECT_TRUE(gemm::check_multiplied(kBf16A).ok());
  EXPECT_EQ(gemm::widened(kBf16B), kF32Types);
}

// All 2^16 numbers of BF16 times 1, with each NaN and infinity.
TEST(Widen, EveryNumberKeepsItsBits) {
  constexpr int kRows = 512, kColumns = 128;
  std::vector<std::uint16_t> numbers(kRows * kColumns);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::uint16_t>(i);
  const Problem p = with_default_ld({.m = kRows * kColumns, .n = 1, .k = 1, .types = kBf16A});
  Device& device = small_test_device();
  const float one = 1;
  DeviceBuffer a(device, 2 * numbers.size()), b(device, 4), d(device, 4 * numbers.size());
  device.copy_in(a.address(), numbers.data(), 2 * numbers.size());
  device.copy_in(b.address(), &one, sizeof one);
  gemm::Handle handle(device);
  gemm::multiply(handle, p, {.a = a.address(), .b = b.address(), .d = d.address()},
                 {.kernel = choose_kernels("simt_f32_vector").front()});
  std::vector<std::uint32_t> out(numbers.size());
  device.copy_out(out.data(), d.address(), 4 * out.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto wanted = static_cast<std::uint32_t>(numbers[i]) << 16;
    const bool is_nan = (numbers[i] & 0x7fff) > 0x7f80, is_zero = (numbers[i] & 0x7fff) == 0;
    const std::uint32_t is = out[i];
    EXPECT_TRUE(is_nan ? (is & 0x7fffffff) > 0x7f800000 : is == wanted || is_zero) << i;
  }
}

TEST(Widen, EveryGpuAndEveryWorkspace) {
  Problem p{.m = 500, .n = 600, .k = 256, .types = kBf16B};
  set_layout(p, "TN");
  for (const int sm : {75, 80, 86, 90, 100, 120}) {
    const gemm::DeviceLimits limits{.sm = sm, .sms = 132, .l2_bytes = 50 << 20};
    const gemm::Plan plan = gemm::plan(p, {}, limits);
    EXPECT_FALSE(plan.steps.empty()) << sm;
    const gemm::Plan tight = gemm::plan(p, {}, limits, {.workspace_limit = 300'000});
    EXPECT_LE(tight.workspace_bytes(), 300'000) << sm;
  }
}

}  // namespace
}  // namespace tessera
