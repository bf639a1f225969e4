// Products of FP32 in two FP16 terms: integers bit for bit, real numbers at least as accurate as
// FP32 sums them, and numbers that terms do not hold as FP32 has them.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "device/virtual/observer.h"
#include "gemm/call/multiply.h"
#include "lab/verify/verify.h"
#include "tests/gemm/call/f16x3.h"

namespace tessera {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

KernelChoice named(const char* variant) {
  return choose_kernels(std::string("wgmma_f16x3/") + variant).front();
}

// The product of operands that are passed as they are stored.
Floats multiplied(const Problem& p, const Floats& a, const Floats& b,
                  const char* variant = "128x64x32_s8") {
  const DeviceBuffer on_a = uploaded(a), on_b = uploaded(b);
  const DeviceBuffer on_d = uploaded(Floats(p.m * p.n, -7.0f));
  gemm::Handle handle(small_test_device());
  observe(small_test_device(), {.checks = true});
  take_counts(small_test_device());
  gemm::multiply(handle, p, {on_a.address(), on_b.address(), 0, on_d.address()},
                 {.kernel = named(variant)});
  small_test_device().synchronize();
  for (const LaunchCounts& launch : take_counts(small_test_device())) {
    EXPECT_TRUE(launch.findings.empty()) << launch.findings.front().message;
  }
  observe(small_test_device(), {});
  Floats d(p.m * p.n);
  small_test_device().copy_out(d.data(), on_d.address(), d.size() * sizeof(float));
  return d;
}

Floats drawn(std::int64_t count, unsigned seed, const std::function<double(std::mt19937&)>& draw) {
  std::mt19937 generator(seed);
  Floats x(count);
  for (float& one : x) one = static_cast<float>(draw(generator));
  return x;
}
double normal(std::mt19937& generator) { return std::normal_distribution<>()(generator); }
double positive(std::mt19937& generator) {
  return std::uniform_real_distribution<>(0, 1)(generator);
}

// Errors in units of u (|A| |B|).
struct Grade {
  double worst = 0, mean = 0;
};
Grade grade_of(const Problem& p, const Floats& a, const Floats& b, const Floats& d) {
  Grade grade;
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      double sum = 0, size = 0;
      for (std::int64_t l = 0; l < p.k; ++l) {
        const double term = static_cast<double>(a[i * p.k + l]) * b[l * p.n + j];
        sum += term, size += std::abs(term);
      }
      const double error = std::abs(d[i * p.n + j] - sum) / (size * std::ldexp(1.0, -24));
      grade.worst = std::max(grade.worst, error);
      grade.mean += error / static_cast<double>(p.m * p.n);
    }
  }
  return grade;
}

TEST(Promoted, IsRightForAnyLayoutSizeAndScale) {
  std::mt19937 draw(20261127);
  const auto below = [&](int n) { return static_cast<std::int64_t>(draw() % n); };
  for (const char* variant : {"128x128x32_s6", "128x64x32_s8"}) {
    for (const char* layout : {"NN", "NT", "TN", "TT"}) {
      Problem p = f16x3_product(1 + below(300), 1 + below(300), 1 + below(150), layout);
      p.order = below(2) ? Order::kRowMajor : Order::kColumnMajor;
      p.lda = p.ldb = p.ldc = p.ldd = 0;
      p = with_default_ld(p);
      for (std::int64_t* ld : {&p.lda, &p.ldb, &p.ldc, &p.ldd}) *ld += below(3);
      p.alpha = below(2) ? 1 : -0.5;
      p.beta = below(2) ? 0 : 2;
      const lab::VerifyResult result =
          lab::verify(small_test_device(), named(variant), p, {.checks = !test_on_cuda()});
      EXPECT_TRUE(result.ok()) << variant << ", " << layout << ", m " << p.m << ", n " << p.n
                               << ", k " << p.k << ": " << result.reason;
    }
  }
}

TEST(Promoted, TakesEveryTailOfK) {
  for (const std::int64_t k : {0, 1, 31, 32, 33, 63, 64, 65, 127, 128, 129, 257}) {
    const lab::VerifyResult result =
        lab::verify(small_test_device(), named("128x64x32_s8"), f16x3_product(19, 21, k, "NT"),
                    {.checks = !test_on_cuda()});
    EXPECT_TRUE(result.ok()) << "k " << k << ": " << result.reason;
  }
}

// A strip of rows then exceeds what its cluster holds, and a part of it is read twice.
TEST(Promoted, TakesMoreOfKThanSharedMemoryHolds) {
  for (const char* layout : {"NT", "TN"}) {
    const lab::VerifyResult result =
        lab::verify(small_test_device(), named("128x64x32_s8"), f16x3_product(35, 9, 7401, layout),
                    {.checks = !test_on_cuda()});
    EXPECT_TRUE(result.ok()) << layout << ": " << result.reason;
  }
}

TEST(Promoted, IsAsAccurateAsFp32) {
  const Problem p = f16x3_product(40, 70, 1024);
  const Floats a = drawn(p.m * p.k, 1, normal), b = drawn(p.k * p.n, 2, normal);
  const Grade of_normal = grade_of(p, a, b, multiplied(p, a, b));
  EXPECT_LT(of_normal.worst, 1);
  EXPECT_LT(of_normal.mean, 0.15);
  const Floats c = drawn(p.m * p.k, 3, positive), d = drawn(p.k * p.n, 4, positive);
  const Grade of_positive = grade_of(p, c, d, multiplied(p, c, d));
  EXPECT_LT(of_positive.worst, 9) << "chains that are not promoted drift by 100";
  EXPECT_LT(of_positive.mean, 2) << "chains of 64 end 3 u low";
}

// Exponents of rows and columns leave no trace.
TEST(Promoted, ScalesOfRowsAndColumnsKeepTheBits) {
  const Problem p = f16x3_product(9, 13, 70);
  const Floats a = drawn(p.m * p.k, 5, normal), b = drawn(p.k * p.n, 6, normal);
  const Floats plain = multiplied(p, a, b);
  for (const int exponent : {-100, -37, 1, 60, 100}) {
    Floats scaled = a, other = b;
    for (float& x : scaled) x = std::ldexp(x, exponent);
    for (std::int64_t l = 0; l < p.k; ++l)
      other[l * p.n + 3] = std::ldexp(b[l * p.n + 3], -exponent);
    const Floats d = multiplied(p, scaled, other);
    for (std::int64_t i = 0; i < p.m * p.n; ++i) {
      const int of_column = i % p.n == 3 ? -exponent : 0;
      ASSERT_EQ(d[i], std::ldexp(plain[i], exponent + of_column)) << exponent << " at " << i;
    }
  }
}

// What D has where one element of A is x.
Floats with_element(float x) {
  const Problem p = f16x3_product(5, 6, 130);
  Floats a(p.m * p.k, 1.0f);
  const Floats b(p.k * p.n, 0.5f);
  a[2 * p.k + 129] = x;
  return multiplied(p, a, b);
}

TEST(Promoted, NumbersThatTermsDoNotHoldAreMultipliedAsInFp32) {
  EXPECT_EQ(with_element(1)[2 * 6], 65.0f);
  EXPECT_EQ(with_element(kInfinity)[2 * 6], kInfinity);
  EXPECT_EQ(with_element(kInfinity)[0], 65.0f);
  EXPECT_TRUE(std::isnan(with_element(kNan)[2 * 6 + 5]));
  EXPECT_EQ(with_element(kNan)[3 * 6], 65.0f);
  const float huge = std::ldexp(1.0f, 127);
  EXPECT_EQ(with_element(huge)[2 * 6], 0.5f * huge);
  EXPECT_EQ(with_element(0)[2 * 6], 64.5f);
}

TEST(Promoted, ARowOfInfinitiesIsOne) {
  const Problem p = f16x3_product(5, 6, 130);
  Floats a(p.m * p.k, 1.0f);
  std::fill_n(a.begin() + 2 * p.k, p.k, kInfinity);
  const Floats d = multiplied(p, a, Floats(p.k * p.n, 0.5f));
  EXPECT_EQ(d[2 * 6], kInfinity) << "terms of an infinity make a NaN";
  EXPECT_EQ(d[0], 65.0f);
}

// Every CTA of the launch that splits says what it has found: here the last one alone.
TEST(Promoted, TheLastPartOfBIsLookedAt) {
  const Problem p = f16x3_product(5, 6, 130);
  Floats a(p.m * p.k, 0.0f), b(p.k * p.n, 0.0f);
  const float small = std::ldexp(1.2345678f, -60);
  a[129] = 1.0f;
  b[5] = 1.0f;
  b.back() = small;
  EXPECT_EQ(multiplied(p, a, b)[5], small);
}

// Multiplied by the power of two of their row they are 0: not only far below the largest number.
TEST(Promoted, SpreadIsNoticedWhereScalingUnderflows) {
  const Problem p = f16x3_product(3, 4, 128);
  Floats a(p.m * p.k, std::ldexp(1.0f, -40)), b(p.k * p.n, 1.0f);
  for (std::int64_t i = 0; i < p.m; ++i) a[i * p.k] = std::ldexp(1.0f, 127);
  std::fill_n(b.begin(), p.n, 0.0f);
  EXPECT_EQ(multiplied(p, a, b)[0], std::ldexp(127.0f, -40));
}

TEST(Promoted, RowsOfVerySmallNumbersKeepTheirDigits) {
  const Problem p = f16x3_product(3, 4, 8);
  Floats a(p.m * p.k, 0.0f);
  for (std::int64_t l = 0; l < p.k; ++l) a[p.k + l] = std::ldexp(1.0f, -130 - static_cast<int>(l));
  const Floats d = multiplied(p, a, Floats(p.k * p.n, 1.0f));
  EXPECT_EQ(d[4], std::ldexp(255.0f, -137));
  EXPECT_EQ(d[0], 0.0f);
}

// Every second element of k is larger in A and smaller in B, and sums are integers of up to 24
// digits: by 2^28 terms hold both, and by 2^60 FFMAs multiply.
TEST(Promoted, NumbersOfAnyExponentKeepTheirDigits) {
  std::mt19937 draw(20261128);
  const auto below = [&](int n) { return static_cast<int>(draw() % n); };
  for (const char* variant : {"128x128x32_s6", "128x64x32_s8"}) {
    for (const char* layout : {"NN", "NT", "TN", "TT"}) {
      Problem p = f16x3_product(130 + below(150), 120 + below(150), 129 + below(150), layout);
      if (below(2)) p.m = p.m / 4 * 4, p.n = p.n / 4 * 4, p.k = p.k / 4 * 4;  // rows of float4
      p.lda = p.ldb = p.ldc = p.ldd = 0;
      p = with_default_ld(p);
      const MatrixView of_a = view_a(p), of_b = view_b(p);
      const int spread = below(2) ? 28 : 60;
      Floats a(of_a.span()), b(of_b.span());
      std::vector<double> exact(p.m * p.n, 0.0);
      std::vector<int> column(p.n);
      for (std::int64_t l = 0; l < p.k; ++l) {
        const int exponent = l % 2 ? spread : 0;
        for (std::int64_t j = 0; j < p.n; ++j) {
          column[j] = below(15) - 7;
          b[l * of_b.row + j * of_b.col] = std::ldexp(static_cast<float>(column[j]), -exponent);
        }
        for (std::int64_t i = 0; i < p.m; ++i) {
          const int x = below(8191) - 4095;
          a[i * of_a.row + l * of_a.col] = std::ldexp(static_cast<float>(x), exponent);
          for (std::int64_t j = 0; j < p.n; ++j) exact[i * p.n + j] += x * column[j];
        }
      }
      const Floats d = multiplied(p, a, b, variant);
      for (std::int64_t i = 0; i < p.m * p.n; ++i) {
        ASSERT_EQ(d[i], exact[i]) << variant << ' ' << layout << " at " << i << ", k " << p.k;
      }
    }
  }
}

TEST(Promoted, IsRightWhereNumbersAreSpread) {
  for (const char* layout : {"NN", "NT", "TN", "TT"}) {
    const lab::VerifyOptions how{.fill = lab::Fill::kSpread, .checks = !test_on_cuda()};
    const lab::VerifyResult result = lab::verify(small_test_device(), named("128x128x32_s6"),
                                                 f16x3_product(131, 140, 200, layout), how);
    EXPECT_TRUE(result.ok()) << layout << ": " << result.reason;
  }
}

// Low terms have digits of their own where high ones have few: 2^29 below the largest of a row.
TEST(Promoted, LowTermsKeepTheDigitsOfSmallNumbers) {
  const Problem p = f16x3_product(3, 4, 128);
  const float small = std::ldexp(1.2345678f, -29);
  Floats a(p.m * p.k, 0.5f), b(p.k * p.n, 0.0f);
  for (std::int64_t i = 0; i < p.m; ++i) a[i * p.k + 5] = small;
  std::fill_n(b.begin() + 5 * p.n, p.n, 1.0f);
  EXPECT_NEAR(multiplied(p, a, b)[0], small, std::ldexp(small, -21));
}

// The sums of products with a low term are promoted once in 4096 of k, and at the end.
TEST(Promoted, LowTermsAreAddedInLongProducts) {
  for (const std::int64_t k : {4095, 4096, 4097, 8250}) {
    const Problem p = f16x3_product(2, 3, k);
    const float x = 1 + 0x1p-20f;  // its low term is 2^-20
    const Floats d = multiplied(p, Floats(p.m * k, x), Floats(k * p.n, 1.0f));
    EXPECT_NEAR(d[0] - static_cast<double>(k), k * 0x1p-20, 8 * k * 0x1p-24) << k;
  }
}

TEST(Promoted, VerySmallNumbersKeepTheirDigitsBesideLargeOnes) {
  const Problem p = f16x3_product(3, 4, 128);
  const float small = std::ldexp(1.2345678f, -120);
  Floats a(p.m * p.k, small), b(p.k * p.n, 0.0f);
  for (std::int64_t i = 0; i < p.m; ++i) a[i * p.k] = 1;
  std::fill_n(b.begin() + 5 * p.n, p.n, std::ldexp(1.0f, 110));
  EXPECT_EQ(multiplied(p, a, b)[0], std::ldexp(small, 110));
}

// A tenth of each row is far below its largest number: no row alone is flagged, and four are.
TEST(Promoted, SpreadOfAFewNumbersInEveryRowIsNoticed) {
  constexpr int kSmall = 10;
  const Problem p = f16x3_product(8, 4, 128);
  const float small = std::ldexp(1.2345678f, -40);
  Floats a(p.m * p.k, 1.0f), b(p.k * p.n, 0.0f);
  for (std::int64_t i = 0; i < p.m; ++i) std::fill_n(a.begin() + i * p.k, kSmall, small);
  std::fill_n(b.begin(), kSmall * p.n, 1.0f);
  EXPECT_NEAR(multiplied(p, a, b)[0], kSmall * small, std::ldexp(kSmall * small, -22));
}

// Numbers far below the largest of their row: two terms would lose them.
TEST(Promoted, WideSpreadIsNoticed) {
  const Problem p = f16x3_product(4, 8, 256);
  Floats a = drawn(p.m * p.k, 7, normal);
  Floats b(p.k * p.n, 0.0f);
  for (std::int64_t l = 128; l < p.k; ++l) {
    for (std::int64_t j = 0; j < p.n; ++j) b[l * p.n + j] = a[(l * 31 + j) % a.size()];
    for (std::int64_t i = 0; i < p.m; ++i) a[i * p.k + l] *= std::ldexp(1.0f, -40);
  }
  EXPECT_LT(grade_of(p, a, b, multiplied(p, a, b)).worst, 8);
}

TEST(Promoted, TheLibraryChoosesItWhereItPays) {
  for (const gemm::CostTable* costs : {&gemm::kH200Costs, &gemm::kH100Costs}) {
    const gemm::DeviceLimits hopper{.sm = 90, .sms = 132, .l2_bytes = 50 << 20, .costs = costs};
    const auto chosen = [&](std::int64_t side) {
      const gemm::Plan plan = gemm::plan(f16x3_product(side, side, side), {}, hopper);
      return plan.kernel().name + "/" + plan.offers.front().row->variant;
    };
    // The faster of the two on an H100 (results/tensor/h100_f16x3.json).
    EXPECT_EQ(chosen(1024), "wgmma_f16x3/128x64x32_s8") << costs->gpu->name;
    EXPECT_EQ(chosen(2048), "wgmma_f16x3/128x128x32_s6") << costs->gpu->name;
    EXPECT_EQ(chosen(4096), "wgmma_f16x3/128x128x32_s6") << costs->gpu->name;
    EXPECT_EQ(chosen(8192), "wgmma_f16x3/128x128x32_s6") << costs->gpu->name;
    EXPECT_FALSE(chosen(128).starts_with("wgmma_f16x3")) << costs->gpu->name;
    const gemm::Plan plan = gemm::plan(f16x3_product(4096, 4096, 4096), {}, hopper);
    EXPECT_GE(plan.workspace_bytes(), 2 * 4096 * 4096 * 4);
  }
}

}  // namespace
}  // namespace tessera
