// BF16 times a few rows of FP32, as it is: every way of loading and sharing, the edges, and numbers
// that terms of BF16 do not hold. Verified under the bound of FP32, on the virtual GPU under all
// checks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "device/buffer.h"
#include "gemm/call/multiply.h"
#include "kernels/families/mixed/params.h"
#include "lab/verify/verify.h"
#include "tests/support/test_device.h"

namespace tessera {
namespace {

constexpr const char* kOfA[] = {"mixed_bf16_f32/8_columns", "mixed_bf16_f32/16_columns",
                                "mixed_bf16_f32/32_columns"};
constexpr const char* kOfB[] = {"mixed_f32_bf16/8_rows", "mixed_f32_bf16/16_rows",
                                "mixed_f32_bf16/32_rows"};

struct Form {
  const char* layout;
  Order order;
  std::int64_t lines, rows, k;
  int pad;
  double alpha, beta;
  int misalign;
};
constexpr Form kForms[] = {{"NN", Order::kRowMajor, 96, 8, 320, 0, 1, 0, 0},
                           {"NT", Order::kRowMajor, 96, 8, 320, 0, 1, 0.5, 0},
                           {"TN", Order::kRowMajor, 64, 16, 288, 8, 1, 0, 0},
                           {"TT", Order::kRowMajor, 77, 33, 301, 0, -1.5, 1, 0},
                           {"NT", Order::kColumnMajor, 77, 35, 333, 3, 1, 0, 1},
                           {"TN", Order::kColumnMajor, 96, 4, 361, 8, 2, -1, 0},
                           {"NT", Order::kRowMajor, 70, 5, 45, 4, 1, 0, 0},
                           {"NN", Order::kColumnMajor, 1, 1, 7, 0, 1, 0, 0},
                           {"TT", Order::kColumnMajor, 37, 12, 0, 1, 1, 2, 0}};

Problem problem_of(const Form& form, const Kernel& kernel) {
  const bool is_a = kernel.types.a == ElementType::kBf16;
  Problem p{.m = is_a ? form.lines : form.rows,
            .n = is_a ? form.rows : form.lines,
            .k = form.k,
            .types = kernel.types,
            .order = form.order,
            .alpha = form.alpha,
            .beta = form.beta};
  set_layout(p, form.layout);
  p = with_default_ld(p);
  p.lda += form.pad, p.ldb += form.pad, p.ldc += form.pad, p.ldd += form.pad;
  return p;
}

void verify(const std::string& kernel, const Problem& problem, lab::VerifyOptions options = {}) {
  options.checks = !test_on_cuda();
  const KernelChoice choice = choose_kernels(kernel).front();
  const lab::VerifyResult result = lab::verify(small_test_device(), choice, problem, options);
  EXPECT_TRUE(result.ok()) << kernel << ' ' << layout_of(problem) << ' ' << name_of(problem.types)
                           << ' ' << describe(problem.batch) << ' ' << problem.m << 'x' << problem.n
                           << 'x' << problem.k << ": " << result.reason;
  EXPECT_EQ(result.integers, "full");
  EXPECT_LE(result.max_error_ratio, 1);
}

TEST(Mixed, EveryFormByEveryVariant) {
  for (const auto& kernels : {kOfA, kOfB}) {
    for (int i = 0; i < 3; ++i) {
      for (const Form& form : kForms) {
        lab::VerifyOptions options;
        options.misalign = form.misalign;
        const KernelChoice choice = choose_kernels(kernels[i]).front();
        Form whole = form;  // more lines than a CTA multiplies
        whole.lines += i == 0 ? 0 : 192;
        verify(kernels[i], problem_of(whole, *choice.kernel), options);
      }
    }
  }
}

// From warps with lines of their own to eight CTAs that share k, whose warps share it, too, where
// each makes its own terms.
TEST(Mixed, EverySharingOfK) {
  for (const char* kernel : {kOfA[0], kOfA[1], kOfB[0], kOfB[2]}) {
    const KernelChoice choice = choose_kernels(kernel).front();
    const bool shares_terms = kernel != kOfA[0] && kernel != kOfB[0];
    for (int sharing = 1; sharing <= (shares_terms ? 8 : 64); sharing *= 2) {
      for (const std::int64_t k : {31, 417, 2500}) {
        Form form{"NT", Order::kRowMajor, 290, 19, k, 0, 1, 0.5, 0};
        if (sharing % 4 == 0) form.layout = "NN";
        verify(kernel + std::string(":warps=") + std::to_string(sharing),
               problem_of(form, *choice.kernel));
      }
    }
  }
}

TEST(Mixed, Batches) {
  for (const char* kernel : {"mixed_bf16_f32/8_columns", "mixed_f32_bf16/32_rows"}) {
    for (const Form& form : {kForms[1], kForms[3]}) {
      const Problem one = problem_of(form, *choose_kernels(kernel).front().kernel);
      Problem p = one;
      p.batch = {.kind = BatchKind::kStrided,
                 .count = 3,
                 .stride_a = view_a(p).span() + 8,
                 .stride_b = view_b(p).span() + 8,
                 .stride_c = view_c(p).span() + 1,
                 .stride_d = view_d(p).span() + 1};
      verify(kernel, p);
      p = one;
      p.batch = {.kind = BatchKind::kPointers, .count = 3, .alignment = 16};
      verify(kernel, p);
    }
  }
}

TEST(Mixed, EpiloguesComeLater) {
  Problem p = problem_of(kForms[1], *choose_kernels(kOfB[0]).front().kernel);
  for (const char* epilogue : {"bias_col", "scale_row+bias_col+gelu", "relu"}) {
    p.epilogue = parse_epilogue(epilogue);
    verify(kOfB[0], p);
  }
}

// Errors that add up: chains of 32 of k are promoted, so they stay as small as those of FP32.
TEST(Mixed, LongSumsOfOneSign) {
  for (const lab::Fill fill : {lab::Fill::kSameSign, lab::Fill::kSpread, lab::Fill::kNormal}) {
    Form form{"NT", Order::kRowMajor, 64, 8, 8192, 0, 1, 0, 0};
    lab::VerifyOptions options;
    options.fill = fill;
    verify("mixed_f32_bf16/8_rows:warps=2", problem_of(form, *choose_kernels(kOfB[0])[0].kernel),
           options);
  }
}

TEST(Mixed, NansOfOperandsReachTheirOutputs) {
  for (const char* kernel : {kOfA[1], kOfB[0]}) {
    for (const Form& form : {kForms[0], kForms[3]}) {
      lab::VerifyOptions options;
      options.nans = 3;
      verify(kernel, problem_of(form, *choose_kernels(kernel).front().kernel), options);
    }
  }
}

// The last tile begins earlier, so that it is whole, and stores its own lines alone.
TEST(Mixed, TheLastTileIsWhole) {
  for (const char* kernel : {"mixed_bf16_f32/16_columns", "mixed_f32_bf16/16_rows",
                             "mixed_bf16_f32/32_columns", "mixed_f32_bf16/32_rows"}) {
    const KernelChoice choice = choose_kernels(kernel).front();
    for (const char* layout : {"NN", "NT", "TN", "TT"}) {
      for (const std::int64_t k : {20, 453}) {
        const Form form{layout, Order::kRowMajor, 300, 37, k, 0, 1, 0.5, 0};
        lab::VerifyOptions in_place;
        in_place.in_place = true;
        verify(kernel + std::string(":warps=1"), problem_of(form, *choice.kernel), in_place);
      }
    }
  }
}

// D of one FP32 row times lines of BF16, row-major NT.
std::vector<float> product_of(const char* kernel, const std::vector<float>& row,
                              const std::vector<std::uint16_t>& lines) {
  const auto k = static_cast<std::int64_t>(row.size());
  Device& device = small_test_device();
  Problem p{.m = 1,
            .n = static_cast<std::int64_t>(lines.size()) / k,
            .k = k,
            .types = choose_kernels(kOfB[0]).front().kernel->types,
            .order = Order::kRowMajor,
            .op_b = Op::kTranspose};
  p = with_default_ld(p);
  DeviceBuffer a(device, row.size() * 4), b(device, lines.size() * 2), d(device, p.n * 4);
  device.copy_in(a.address(), row.data(), row.size() * 4);
  device.copy_in(b.address(), lines.data(), lines.size() * 2);
  gemm::Handle handle(device);
  gemm::multiply(handle, p, {.a = a.address(), .b = b.address(), .d = d.address()},
                 {.kernel = choose_kernels(kernel).front()});
  std::vector<float> out(static_cast<std::size_t>(p.n));
  device.copy_out(out.data(), d.address(), out.size() * 4);
  return out;
}

std::uint16_t bf16_of(float x) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  return static_cast<std::uint16_t>(bits >> 16);
}

// As FP32 arithmetic has them: an infinity times a number that is one BF16 term must not meet the
// zeros of its other terms, and the lowest bits of tiny numbers count.
TEST(Mixed, SpecialAndTinyNumbersAreThoseOfFp32) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kLargest = std::numeric_limits<float>::max();
  const float lows[] = {0x1.234567p-120f, 0x1.fffffep-126f, 0x1p-149f, 0x0.abcdeep-126f};
  std::vector<float> pairs;  // x of a row, and a line's number, one product each
  const auto same_or_nan = [](float x, float y) {
    return (std::isnan(x) && std::isnan(y)) || std::memcmp(&x, &y, sizeof x) == 0;
  };
  for (const float x : {1.0f, -3.0f, kLargest, kInfinity, -kInfinity, kNan, 0.0f, lows[0], lows[1],
                        lows[2], lows[3]}) {
    for (const float y : {1.0f, -2.0f, 0.0f, kInfinity, -kInfinity, kNan, 0x1p100f, 0x1p-20f}) {
      std::vector<float> row(40, 0.0f);
      row[37] = x;
      std::vector<std::uint16_t> lines(40 * 3, bf16_of(1));
      lines[40 + 37] = bf16_of(y);
      for (const char* kernel : {kOfB[0], kOfB[1]}) {
        const std::vector<float> d = product_of(kernel, row, lines);
        EXPECT_TRUE(same_or_nan(d[0], x + 0.0f)) << kernel << ' ' << x << ": " << d[0];
        EXPECT_TRUE(same_or_nan(d[1], x * y + 0.0f))
            << kernel << ' ' << x << " * " << y << ": " << d[1];
      }
    }
  }
}

// The same where terms are made ahead, while the stage before is multiplied.
TEST(Mixed, TinyNumbersOfLaterStagesAreThoseOfFp32) {
  for (const char* kernel : {kOfB[0], kOfB[1], kOfB[2]}) {
    for (const std::size_t at : {3, 200, 319}) {
      std::vector<float> row(320, 0.0f);
      row[at] = 0x1p-149f;
      const std::vector<std::uint16_t> lines(320 * 256, bf16_of(0x1p100f));
      const std::vector<float> d = product_of(kernel, row, lines);
      const auto right = std::count(d.begin(), d.end(), 0x1p-49f);
      EXPECT_EQ(right, 256) << kernel << ", k " << at << ": " << d.front();
    }
  }
}

// Sums that pass the largest number on their way, but do not end there.
TEST(Mixed, OverflowOfATermIsNone) {
  std::vector<float> row(64, 0.0f);
  row[0] = 0x1.fffffep127f, row[1] = -0x1.fffffep127f, row[2] = 5;  // lost beside these
  const std::vector<float> d =
      product_of(kOfB[0], row, std::vector<std::uint16_t>(64 * 32, bf16_of(1)));
  for (const float x : d) EXPECT_LE(std::fabs(x), 5);
}

TEST(Mixed, TheLibraryTakesItForAFewRows) {
  const gemm::DeviceLimits limits{.sm = 90, .sms = 132, .l2_bytes = 50 << 20};
  Problem p{
      .m = 128000, .n = 16, .k = 4096, .types = choose_kernels(kOfA[0]).front().kernel->types};
  set_layout(p, "TN");
  EXPECT_EQ(gemm::plan(p, {}, limits).kernel().family, "mixed");
  p.m = 256;
  const gemm::Plan router = gemm::plan(p, {}, limits);
  EXPECT_EQ(router.kernel().family, "mixed");
  EXPECT_EQ(router.steps.size(), 1u);
  EXPECT_EQ(router.workspace_bytes(), 0);
  p.types.compute = ComputeType::kF16x3;
  EXPECT_EQ(gemm::plan(p, {}, limits).kernel().family, "mixed");
}

}  // namespace
}  // namespace tessera
