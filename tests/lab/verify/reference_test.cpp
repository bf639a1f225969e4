#include "lab/verify/reference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <tuple>
#include <vector>

#include "lab/verify/products.h"
#include "tests/lab/verify/operands.h"

namespace tessera::lab {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Products, MatchAHandComputedCase) {
  const std::vector<double> a{1, 2, 3, 4, 5, 6};     // 2 x 3
  const std::vector<double> b{7, 8, 9, 10, 11, 12};  // 3 x 2
  const std::vector<double> want{58, 64, 139, 154};
  std::vector<double> c(4), high(4), low(4, 9.0);
  multiply_blocked({2, 2, 3}, a.data(), b.data(), c.data());
  EXPECT_EQ(c, want);
  multiply_double_double({2, 2, 3}, a.data(), b.data(), high.data(), low.data());
  EXPECT_EQ(high, want);
  EXPECT_EQ(low, std::vector<double>(4, 0.0));
}

// 1e16 + 1 - 1e16 is 0 in FP64 and 1 in double-double; the same with what a product rounds off.
TEST(Products, DoubleDoubleKeepsWhatFp64Loses) {
  const double tiny = 0x1p-30, near = 1 + tiny;
  const std::vector<double> a{1e16, 1, -1e16, near}, b{1, 1, 1, near};
  double fp64 = 0, high = 0, low = 0;
  multiply_blocked({1, 1, 3}, a.data(), b.data(), &fp64);
  multiply_double_double({1, 1, 3}, a.data(), b.data(), &high, &low);
  EXPECT_EQ(fp64, 0);
  EXPECT_EQ(high + low, 1);
  multiply_double_double({1, 1, 1}, a.data() + 3, b.data() + 3, &high, &low);
  EXPECT_EQ(high, 1 + 2 * tiny);
  EXPECT_EQ(low, tiny * tiny);
}

// Exact sums of three seeded terms, in 128-bit integers, agree with double-double to its last bit.
TEST(Products, DoubleDoubleAgreesWithIntegers) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    double a[3], b[3];
    __int128 exact = 0;
    for (int i = 0; i < 3; ++i) {
      const auto x = static_cast<std::int64_t>(mix_bits(seed * 6 + i)) >> 11;      // 53 bits
      const auto y = static_cast<std::int64_t>(mix_bits(seed * 6 + i + 3)) >> 11;  // 53 bits
      a[i] = static_cast<double>(x);
      b[i] = static_cast<double>(y);
      exact += static_cast<__int128>(x) * y;
    }
    double high = 0, low = 0;
    multiply_double_double({1, 1, 3}, a, b, &high, &low);
    const __int128 got = static_cast<__int128>(high) + static_cast<__int128>(low);
    const double difference = static_cast<double>(got - exact);
    EXPECT_LE(std::abs(difference), std::ldexp(std::abs(high) + 1, -90)) << seed;
  }
}

TEST(Products, TailsOfAllWidthsAreRight) {
  for (std::int64_t m : {1, 2, 3, 4, 5, 9}) {
    for (std::int64_t n : {1, 7, 8, 9, 17}) {
      const std::int64_t k = 5;
      std::vector<double> a(m * k), b(k * n), c(m * n), high(m * n), low(m * n);
      for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<double>(i % 7) - 3;
      for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<double>(i % 5) - 2;
      multiply_blocked({m, n, k}, a.data(), b.data(), c.data());
      multiply_double_double({m, n, k}, a.data(), b.data(), high.data(), low.data());
      for (std::int64_t i = 0; i < m * n; ++i) {
        double want = 0;
        for (std::int64_t p = 0; p < k; ++p) want += a[i / n * k + p] * b[p * n + i % n];
        ASSERT_EQ(c[i], want) << m << " " << n;
        ASSERT_EQ(high[i], want) << m << " " << n;
      }
    }
  }
}

TEST(Products, OpenBlasAgreesWithOurOwn) {
  const OpenBlas* blas = OpenBlas::load();
  if (!blas) GTEST_SKIP() << "OpenBLAS is not installed";
  EXPECT_EQ(blas->version().rfind("OpenBLAS ", 0), 0u) << blas->version();
  const Extents size{33, 47, 29};
  std::vector<double> a(size.m * size.k), b(size.k * size.n), c(size.m * size.n), d(c.size());
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<double>(i % 11) - 5;
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<double>(i % 13) - 6;
  ASSERT_TRUE(multiply_by(*blas, size, a.data(), b.data(), c.data()));
  multiply_blocked(size, a.data(), b.data(), d.data());
  EXPECT_EQ(c, d);
  EXPECT_FALSE(multiply_by(*blas, {std::int64_t{1} << 31, 1, 1}, a.data(), b.data(), c.data()));
}

TEST(Products, AMissingLibraryIsNull) {
  EXPECT_EQ(OpenBlas::load("/nowhere/libopenblas.so.0"), nullptr);
}

// [1 2; 3 4] * [5 6; 7 8] = [19 22; 43 50], by hand, in every layout and both orders.
TEST(Reference, MatchesAHandComputedCaseInEveryLayout) {
  for (Order order : {Order::kColumnMajor, Order::kRowMajor}) {
    for (const char* layout : {"NN", "NT", "TN", "TT"}) {
      for (const Types& type : {kF32Types, kF64Types}) {
        Problem problem{2, 2, 2, type, order};
        set_layout(problem, layout);
        problem.alpha = 2;
        problem.beta = -1;
        TestOperands x(problem);
        const double a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8}, c[] = {1, 10, 100, 1000};
        for (int i = 0; i < 4; ++i) {
          x.a.set(i / 2, i % 2, a[i]);
          x.b.set(i / 2, i % 2, b[i]);
          x.c.set(i / 2, i % 2, c[i]);
        }
        const Reference reference = x.reference();
        EXPECT_EQ(reference.high, (std::vector<double>{37, 34, -14, -900})) << layout;
        EXPECT_EQ(reference.magnitude, (std::vector<double>{39, 54, 186, 1100})) << layout;
        EXPECT_FALSE(reference.sampled);
      }
    }
  }
}

TEST(Reference, NamesWhatComputedIt) {
  const Problem single{5, 5, 5}, twice{5, 5, 5, kF64Types};
  EXPECT_EQ(TestOperands(single).reference({.own_code_only = true}).method, "blocked FP64");
  EXPECT_EQ(TestOperands(twice).reference().method, "double-double");
  if (OpenBlas::load()) {
    EXPECT_EQ(TestOperands(single).reference().method.rfind("OpenBLAS", 0), 0u);
  }
}

// What must not be read holds NaN, and the reference must not show it.
TEST(Reference, DoesNotReadWhatTheContractExcludes) {
  Problem problem{3, 3, 3};
  problem.beta = 0;
  TestOperands x(problem);
  x.c.set(1, 1, kNaN);
  for (double v : x.reference().high) EXPECT_FALSE(std::isnan(v));
  problem.alpha = 0;
  problem.beta = 1;
  TestOperands y(problem);
  y.a.set(1, 1, kNaN);
  y.b.set(1, 1, kInfinity);
  const Reference reference = y.reference();
  for (int i = 0; i < 9; ++i) EXPECT_EQ(reference.high[i], y.c.at(i / 3, i % 3));
}

TEST(Reference, NaNAndInfinityPropagate) {
  for (const Types& type : {kF32Types, kF64Types}) {
    TestOperands x(Problem{3, 3, 3, type});
    x.a.set(0, 1, kNaN);       // row 0 is NaN
    x.b.set(2, 1, kInfinity);  // column 1 is infinite
    x.a.set(2, 2, 0);          // but 0 * infinity is NaN
    const Reference reference = x.reference({.own_code_only = true});
    EXPECT_TRUE(std::isnan(reference.high[0]));
    EXPECT_TRUE(std::isnan(reference.high[2]));
    EXPECT_TRUE(std::isinf(reference.high[4]));
    EXPECT_TRUE(std::isnan(reference.high[7]));
    EXPECT_TRUE(std::isfinite(reference.high[8]));
  }
}

// A sampled reference holds the same values as the full one at its entries.
TEST(Reference, SamplesAgreeWithTheWhole) {
  for (const Types& type : {kF32Types, kF64Types}) {
    Problem problem{150, 130, 20, type};
    problem.beta = 0.5;
    const TestOperands x(problem);
    const Reference full = x.reference(), sampled = x.reference({.full_limit = 1000});
    ASSERT_TRUE(sampled.sampled);
    ASSERT_GE(sampled.entries.size(), 4096u);
    for (std::size_t i = 0; i < sampled.entries.size(); ++i) {
      const auto [row, col] = sampled.entries[i];
      const std::size_t at = row * problem.n + col;
      ASSERT_NEAR(sampled.high[i], full.high[at], 1e-13);
      ASSERT_NEAR(sampled.magnitude[i], full.magnitude[at], 1e-12);
    }
  }
}

TEST(Reference, ASmallDIsNeverSampled) {
  const TestOperands x(Problem{10, 10, 50});
  const Reference reference = x.reference({.full_limit = 10});
  EXPECT_FALSE(reference.sampled);
  EXPECT_EQ(reference.high.size(), 100u);
}

TEST(Reference, TheLimitIsTwoToThe31MultiplyAdds) {
  EXPECT_TRUE(fits_full_reference({2048, 1024, 1024}));
  EXPECT_FALSE(fits_full_reference({2048, 1024, 1025}));
}

TEST(Sample, HoldsCornersAndBothSidesOfEverySeam) {
  const Problem problem{1000, 3000, 8};
  std::set<std::pair<std::int64_t, std::int64_t>> entries;
  std::set<std::int64_t> rows, cols;
  const auto list = sample_entries(problem, 5);
  EXPECT_LE(list.size(), 16384u);
  for (const auto& [row, col] : list) {
    ASSERT_GE(row, 0);
    ASSERT_LT(row, 1000);
    ASSERT_GE(col, 0);
    ASSERT_LT(col, 3000);
    entries.insert({row, col});
    rows.insert(row);
    cols.insert(col);
  }
  for (std::int64_t row : {0, 999}) {
    for (std::int64_t col : {0, 2999}) EXPECT_TRUE(entries.count({row, col}));
  }
  for (std::int64_t seam = 8; seam < 1000; seam += 8) {
    EXPECT_TRUE(rows.count(seam) && rows.count(seam - 1)) << seam;
  }
  for (std::int64_t seam = 8; seam < 3000; seam += 8) {
    EXPECT_TRUE(cols.count(seam) && cols.count(seam - 1)) << seam;
  }
  EXPECT_GE(entries.size(), 4096u);
}

TEST(Sample, StaysWithinItsLimitForHugeMatrices) {
  const auto list = sample_entries({100000, 100000, 8}, 5);
  EXPECT_LE(list.size(), 16384u);
  EXPECT_GE(list.size(), 4096u + 4u + 4000u);
}

TEST(Sample, TheLargestSizesDoNotOverflow) {
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
  const Problem problem{kLargest, kLargest - 7, kLargest};
  EXPECT_FALSE(fits_full_reference(problem));
  const auto list = sample_entries(problem, 5);
  EXPECT_LE(list.size(), 16384u);
  EXPECT_GE(list.size(), 4096u + 4u);
  for (const auto& [row, col] : list) {
    ASSERT_GE(row, 0);
    ASSERT_LT(row, kLargest);
    ASSERT_GE(col, 0);
    ASSERT_LT(col, kLargest - 7);
  }
}

}  // namespace
}  // namespace tessera::lab
