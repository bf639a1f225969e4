#include "lab/data/integers.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lab/verify/exact_rows.h"
#include "tests/lab/verify/operands.h"

namespace tessera::lab {
namespace {

TestOperands integer_operands(Problem problem, std::uint64_t seed = 1) {
  TestOperands x(problem, Fill::kIntegers);
  FillSpec spec = exact_integers(x.problem, seed);
  fill(x.a, spec);
  spec.seed += 50;
  fill(x.b, spec);
  spec.seed += 50;
  fill(x.c, spec);
  return x;
}

Comparison rows(const TestOperands& x) {
  return compare_rows_exactly(x.problem, x.a, x.b, x.c, x.d, 77);
}

TEST(Integers, ScalesStayOrBecomeOnes) {
  Problem problem{4, 4, 4};
  problem.alpha = -1.5;
  problem.beta = 0.1;
  const Problem exact = with_exact_scales(problem);
  EXPECT_EQ(exact.alpha, -1.5);
  EXPECT_EQ(exact.beta, 1);
  problem.alpha = -1e9;
  problem.beta = 0;
  EXPECT_EQ(with_exact_scales(problem).alpha, -1);
  EXPECT_EQ(with_exact_scales(problem).beta, 0);
}

// The largest possible sum, in quarters, must be exact: below 2^24 for floats.
TEST(Integers, SumsStayExactForEveryK) {
  for (const Types& type : {kF32Types, kF64Types}) {
    for (std::int64_t k : {1, 16, 1000, 16384, 100000, 1000000}) {
      Problem problem{1, 1, k, type};
      problem.alpha = -1.5;
      problem.beta = 16;
      const FillSpec spec = exact_integers(problem, 1);
      const double most = k * std::pow(spec.limit, 2) * spec.density * spec.density;
      const double range = type == kF32Types ? 0x1p24 : 0x1p53;
      EXPECT_LE(4 * (1.5 * most + 16 * spec.limit), range) << k;
      EXPECT_GE(spec.limit, 1);
    }
  }
  EXPECT_LT(exact_integers(Problem{1, 1, std::int64_t{1} << 24}, 1).density, 1);
}

TEST(Integers, ARightKernelIsExactlyRight) {
  for (const Types& type : {kF32Types, kF64Types}) {
    for (double alpha : {1.0, -1.5, 0.0}) {
      for (double beta : {0.0, 1.0, -1.5}) {
        Problem problem{33, 29, 200, type};
        problem.alpha = alpha;
        problem.beta = beta;
        TestOperands x = integer_operands(problem);
        if (type == kF32Types) multiply_naively<float>(x);
        if (type == kF64Types) multiply_naively<double>(x);
        EXPECT_TRUE(compare(x.d, x.reference({.exact_data = true}), {}).ok());
        const Comparison result = rows(x);
        EXPECT_TRUE(result.ok()) << alpha << " " << beta;
        EXPECT_EQ(result.checked, 33 * 29);
      }
    }
  }
}

TEST(Integers, RowsAreCheckedInEveryLayoutAndOrder) {
  for (Order order : {Order::kColumnMajor, Order::kRowMajor}) {
    for (const char* layout : {"NN", "NT", "TN", "TT"}) {
      Problem problem{40, 50, 30, kF32Types, order};
      set_layout(problem, layout);
      problem = with_default_ld(problem);
      problem.lda += 3;
      problem.ldd += 2;
      TestOperands x = integer_operands(problem);
      multiply_naively<float>(x);
      EXPECT_TRUE(rows(x).ok()) << layout;
      x.d.set(39, 49, x.d.at(39, 49) + 1);
      EXPECT_FALSE(rows(x).ok()) << layout;
    }
  }
}

// Every single entry, changed by the smallest step, is seen and named.
TEST(Integers, EveryWrongEntryIsFound) {
  TestOperands x = integer_operands({12, 9, 20});
  multiply_naively<float>(x);
  for (int r = 0; r < 12; ++r) {
    for (int c = 0; c < 9; ++c) {
      const double right = x.d.at(r, c);
      x.d.set(r, c, right - 1);
      const Comparison result = rows(x);
      ASSERT_EQ(result.bad, 1);
      ASSERT_EQ(result.first->row, r);
      ASSERT_EQ(result.first->col, c);
      ASSERT_EQ(result.first->want, right);
      x.d.set(r, c, right);
    }
  }
  EXPECT_TRUE(rows(x).ok());
}

// Errors that cancel in a plain row sum, or are hidden by a swap of two columns, are seen too.
TEST(Integers, ErrorsThatCancelAreFound) {
  TestOperands x = integer_operands({12, 9, 20});
  multiply_naively<float>(x);
  x.d.set(4, 2, x.d.at(4, 2) + 5);
  x.d.set(4, 7, x.d.at(4, 7) - 5);
  EXPECT_EQ(rows(x).bad, 2);
  multiply_naively<float>(x);
  for (int r = 0; r < 12; ++r) {
    const double left = x.d.at(r, 1);
    x.d.set(r, 1, x.d.at(r, 2));
    x.d.set(r, 2, left);
  }
  EXPECT_FALSE(rows(x).ok());
}

TEST(Integers, ValuesThatAreNoIntegersAreFound) {
  for (double wrong : {0.3, 1e30, double(NAN), double(INFINITY), 1e-40}) {
    TestOperands x = integer_operands({12, 9, 20});
    multiply_naively<float>(x);
    x.d.set(5, 6, wrong);
    const Comparison result = rows(x);
    EXPECT_FALSE(result.ok()) << wrong;
    EXPECT_EQ(result.first->row, 5);
    EXPECT_EQ(result.first->col, 6);
  }
}

// What is no integer counts as nothing in the sum of a row, as a right zero does.
TEST(Integers, AFractionInPlaceOfAZeroIsFound) {
  Problem problem{4, 5, 6};
  problem.alpha = 0;
  for (const double wrong : {0.1, double(NAN), 0x1p70}) {
    TestOperands x = integer_operands(problem);
    multiply_naively<float>(x);
    EXPECT_TRUE(rows(x).ok());
    x.d.set(2, 3, wrong);
    EXPECT_FALSE(rows(x).ok()) << wrong;
  }
}

TEST(Integers, OneDroppedIndexIsFound) {
  TestOperands x = integer_operands({40, 40, 300});
  multiply_naively<float>(
      x, [](float v) { return v; }, 299);
  EXPECT_GT(rows(x).bad, 30);  // rows whose last element of A is not zero
}

constexpr Types kBf16IntoF32{ElementType::kBf16, ElementType::kBf16, ElementType::kF32,
                             ElementType::kF32, ComputeType::kF32};

TEST(Integers, ARightNarrowKernelIsExactlyRight) {
  for (const Types& types : {kBf16Types, kF16Types, kBf16IntoF32, kE4m3Types, kS8Types}) {
    for (const std::int64_t k : {1, 40, 2000}) {
      Problem problem{33, 29, k, types};
      problem.alpha = types == kS8Types ? 2 : -1.5;
      problem.beta = types == kS8Types ? -1 : 0.75;
      TestOperands x = integer_operands(with_exact_scales(problem));
      multiply_naively<double>(x);  // exact, then rounded to D once
      EXPECT_TRUE(compare(x.d, x.reference({.exact_data = true}), {}).ok()) << name_of(types);
      multiply_naively<float>(x);
      EXPECT_TRUE(compare(x.d, x.reference({.exact_data = true}), {}).ok()) << name_of(types);
    }
  }
}

// Whole rows are compared with D as it is, so that no sum may need more digits than D has.
TEST(Integers, RowsOfANarrowDAreExact) {
  for (const Types& types : {kBf16Types, kF16Types}) {
    for (const std::int64_t k : {1, 300, 20000}) {
      Problem problem{40, 50, k, types};
      problem.alpha = -1.75;
      problem.beta = 2;
      problem = with_default_ld(with_exact_scales(problem));
      TestOperands x(problem);
      FillSpec spec = exact_integers(problem, 5, true);
      for (HostMatrix* matrix : {&x.a, &x.b, &x.c}) {
        fill(*matrix, spec);
        ++spec.seed;
      }
      multiply_naively<double>(x);
      EXPECT_TRUE(rows(x).ok()) << name_of(types) << " " << k;
      x.d.set(39, 49, x.d.at(39, 49) == 0 ? 0.25 : 2 * x.d.at(39, 49));
      EXPECT_FALSE(rows(x).ok()) << name_of(types) << " " << k;
    }
  }
}

TEST(Integers, LimitsFitTheOperands) {
  EXPECT_LE(exact_integers(Problem{4, 4, 1, kE4m3Types}, 1).limit, 16);
  EXPECT_LE(exact_integers(Problem{4, 4, 1, kS8Types}, 1).limit, 127);
  Problem problem{4, 4, 4, kBf16Types};
  problem.alpha = 15.75;
  EXPECT_EQ(with_exact_scales(problem).alpha, 1);
  problem.types = kF32Types;
  EXPECT_EQ(with_exact_scales(problem).alpha, 15.75);
}

TEST(Integers, RowsOfEightBitFloatsAreRefusedByName) {
  Types types = kE4m3Types;
  types.c = types.d = ElementType::kE4m3;
  TestOperands x = integer_operands({4, 4, 4, types});
  EXPECT_THROW(rows(x), StatusError);
}

}  // namespace
}  // namespace tessera::lab
