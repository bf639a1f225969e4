// A compare that cannot fail is worthless: here are right results that must pass, and wrong ones,
// by as little as a rounded operand or one dropped index of k, that must not.
#include "lab/verify/compare.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "tests/lab/verify/operands.h"

namespace tessera::lab {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Round to nearest even at 10 explicit mantissa bits, as TF32 tensor cores read their operands.
float to_tf32(float x) {
  auto bits = std::bit_cast<std::uint32_t>(x);
  bits += 0xFFF + ((bits >> 13) & 1);
  return std::bit_cast<float>(bits & ~0x1FFFu);
}

Comparison judge(const TestOperands& x, Fill fill) {
  return compare(x.d, x.reference(), bound_for(x.problem.types, x.problem.k, fill));
}

TEST(ChainConstant, FollowsTheKindOfData) {
  EXPECT_EQ(chain_constant(1, Fill::kUniform), 4);
  EXPECT_EQ(chain_constant(9, Fill::kNormal), 12);
  EXPECT_EQ(chain_constant(16384, Fill::kUniform), 12);
  EXPECT_EQ(chain_constant(1, Fill::kSameSign), 4);
  EXPECT_EQ(chain_constant(10000, Fill::kSameSign), 204);
  EXPECT_EQ(chain_constant(10000, std::nullopt), 10003);
}

class AtK : public testing::TestWithParam<std::int64_t> {};

TEST_P(AtK, RightChainsPass) {
  for (Fill kind : {Fill::kUniform, Fill::kNormal, Fill::kSameSign}) {
    TestOperands x(Problem{16, 16, GetParam()}, kind, GetParam());
    multiply_naively<float>(x);
    const Comparison result = judge(x, kind);
    EXPECT_TRUE(result.ok()) << name_of(kind) << " " << result.max_error_ratio;
    EXPECT_GT(result.max_error_ratio, 0);
    EXPECT_EQ(result.checked, 256);
  }
}

TEST_P(AtK, RightChainsOfDoublesPass) {
  TestOperands x(Problem{16, 16, GetParam(), kF64Types});
  multiply_naively<double>(x);
  const Comparison result = judge(x, Fill::kUniform);
  EXPECT_TRUE(result.ok()) << result.max_error_ratio;
  EXPECT_GT(result.max_error_ratio, 0);
}

TEST_P(AtK, OperandsRoundedToTf32AreRefused) {
  for (Fill kind : {Fill::kUniform, Fill::kNormal}) {
    TestOperands x(Problem{16, 16, GetParam()}, kind, 3);
    multiply_naively<float>(x, to_tf32);
    const Comparison result = judge(x, kind);
    EXPECT_FALSE(result.ok()) << name_of(kind) << " " << result.max_error_ratio;
    EXPECT_GT(result.bad, 128) << name_of(kind);
  }
}

// FP64 sums of operands that were rounded to FP32 on the way.
TEST_P(AtK, DoublesRoundedToFloatsAreRefused) {
  TestOperands x(Problem{16, 16, GetParam(), kF64Types});
  multiply_naively<double>(x, [](double v) { return static_cast<double>(static_cast<float>(v)); });
  EXPECT_EQ(judge(x, Fill::kUniform).bad, 256);
}

TEST_P(AtK, OneDroppedIndexIsRefused) {
  for (std::int64_t dropped : {std::int64_t{0}, GetParam() / 2, GetParam() - 1}) {
    for (Fill kind : {Fill::kUniform, Fill::kNormal}) {
      TestOperands x(Problem{16, 16, GetParam()}, kind, 5);
      multiply_naively<float>(
          x, [](float v) { return v; }, dropped);
      EXPECT_GT(judge(x, kind).bad, 200) << dropped << " " << name_of(kind);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Compare, AtK, testing::Values(16, 64, 256, 1024, 4096, 16384));

TEST(Compare, AlphaAndBetaScaleTheBound) {
  Problem problem{8, 8, 30};
  problem.alpha = -1.5;
  problem.beta = 1000;
  TestOperands x(problem);
  multiply_naively<float>(x);
  EXPECT_TRUE(judge(x, Fill::kUniform).ok());
  x.d.set(2, 3, x.d.at(2, 3) + 2e-3 * std::abs(x.c.at(2, 3)) + 1e-3);  // 2e-6 of beta C
  const Comparison result = judge(x, Fill::kUniform);
  EXPECT_EQ(result.bad, 1);
}

TEST(Compare, ReportsTheFirstWrongEntryAndTheirNumber) {
  TestOperands x(Problem{40, 30, 10});
  multiply_naively<float>(x);
  x.d.set(7, 20, 99);
  x.d.set(7, 3, 100);
  x.d.set(30, 0, 101);
  const Comparison result = judge(x, Fill::kUniform);
  EXPECT_EQ(result.bad, 3);
  ASSERT_TRUE(result.first);
  EXPECT_EQ(result.first->row, 7);
  EXPECT_EQ(result.first->col, 3);
  EXPECT_EQ(result.first->got, 100);
  EXPECT_GT(result.max_error_ratio, 1e6);
  EXPECT_EQ(describe(result, ElementType::kF32).rfind("D(7, 3) is 100 and should be ", 0), 0u);
  EXPECT_NE(describe(result, ElementType::kF32).find("3 of 1200 entries"), std::string::npos);
}

TEST(Compare, AnUnwrittenEntryIsNamed) {
  for (const Types& type : {kF32Types, kF64Types}) {
    TestOperands x(Problem{4, 4, 4, type});
    const HostMatrix poison = x.d.clone();
    if (type == kF32Types) multiply_naively<float>(x);
    if (type == kF64Types) multiply_naively<double>(x);
    x.d.set(3, 3, poison.at(3, 3));
    const Comparison result = judge(x, Fill::kUniform);
    EXPECT_EQ(result.bad, 1);
    EXPECT_EQ(describe(result, type.d).rfind("D(3, 3) was not written", 0), 0u);
  }
}

// Entry by entry: what is, what should be, and whether that is right.
TEST(Compare, NaNAndInfinityRules) {
  struct Case {
    double got, want;
    bool right;
  };
  const double largest = std::numeric_limits<float>::max();
  const Case cases[] = {{kNaN, kNaN, true},
                        {1, kNaN, false},
                        {kInfinity, kNaN, false},
                        {kNaN, 1, false},
                        {kInfinity, kInfinity, true},
                        {-kInfinity, kInfinity, false},
                        {largest, kInfinity, false},
                        {kInfinity, 1, false},
                        {kInfinity, 2 * largest, true},
                        {-kInfinity, 2 * largest, false},
                        {-0.0, 0.0, true},
                        {0.0, 0.0, true},
                        {1e-30, 0.0, false}};
  for (const Case& each : cases) {
    HostMatrix d(ElementType::kF32, {1, 1, 1, 1}, 0);
    d.set(0, 0, each.got);
    Reference reference;
    reference.rows = reference.cols = 1;
    reference.high = {each.want};
    reference.magnitude = {0.0};
    const Comparison result = compare(d, reference, bound_for(kF32Types, 1, Fill::kUniform));
    EXPECT_EQ(result.ok(), each.right) << each.got << " for " << each.want;
  }
}

TEST(Compare, AZeroBoundDemandsEquality) {
  TestOperands x(Problem{4, 4, 4}, Fill::kZeros);
  multiply_naively<float>(x);
  EXPECT_TRUE(compare(x.d, x.reference(), {}).ok());
  x.d.set(1, 2, 0x1p-140);
  EXPECT_EQ(compare(x.d, x.reference(), {}).bad, 1);
}

TEST(Compare, ASampleLooksOnlyAtItsEntries) {
  TestOperands x(Problem{200, 100, 4});
  multiply_naively<float>(x);
  const Reference sample = x.reference({.full_limit = 1});
  const Bound bound = bound_for(kF32Types, 4, Fill::kUniform);
  EXPECT_TRUE(compare(x.d, sample, bound).ok());
  EXPECT_EQ(compare(x.d, sample, bound).checked, static_cast<std::int64_t>(sample.entries.size()));
  x.d.set(199, 99, 7);  // a corner is always looked at
  EXPECT_EQ(compare(x.d, sample, bound).bad, 1);
}

// Writes one byte at each place around a 3 x 2 matrix with a gap of 2, and asks where it was.
TEST(StrayWrites, AreFoundAndPlaced) {
  const MatrixView view{3, 2, 1, 5};
  struct Case {
    std::ptrdiff_t element;
    const char* where;
  };
  const Case cases[] = {{-1, "4 bytes before its first element"},
                        {-64, "256 bytes before"},
                        {3, "in the gap after column 0, 1 elements behind its end"},
                        {4, "in the gap after column 0, 2 elements behind its end"},
                        {8, "1 elements after its last one"},
                        {71, "64 elements after its last one"}};
  for (const Case& each : cases) {
    HostMatrix d(ElementType::kF32, view, 256);
    fill(d, {Fill::kUniform, 1});
    EXPECT_EQ(find_stray_write(d, "D"), "");
    d.elements<float>()[each.element] = 0;
    EXPECT_NE(find_stray_write(d, "D").find(each.where), std::string::npos)
        << find_stray_write(d, "D") << " for " << each.element;
  }
}

TEST(StrayWrites, ChangesOfInputsAreFound) {
  HostMatrix a(ElementType::kF64, {3, 2, 4, 1}, 256);
  fill(a, {Fill::kUniform, 1});
  HostMatrix now = a.clone();
  EXPECT_EQ(find_change(now, a, "A"), "");
  now.set(2, 1, 5);
  EXPECT_EQ(find_change(now, a, "A"), "A is an input and was written, at (2, 1)");
  now = a.clone();
  now.elements<double>()[2] = 1;
  EXPECT_NE(find_change(now, a, "A").find("in the gap after row 0"), std::string::npos);
}

constexpr Types kBf16IntoF32{ElementType::kBf16, ElementType::kBf16, ElementType::kF32,
                             ElementType::kF32, ComputeType::kF32};
constexpr Types kF16IntoF32{ElementType::kF16, ElementType::kF16, ElementType::kF32,
                            ElementType::kF32, ComputeType::kF32};

// Narrow operands whose exact products are summed in FP32 meet FP32's bound and one rounding.
TEST_P(AtK, RightChainsOfNarrowTypesPass) {
  for (const Types& types : {kBf16Types, kF16Types, kBf16IntoF32, kF16IntoF32, kE4m3Types}) {
    for (Fill kind : {Fill::kUniform, Fill::kSameSign}) {
      TestOperands x(Problem{16, 16, GetParam(), types}, kind, GetParam());
      x.problem.alpha = -1.5;
      x.problem.beta = 0.5;
      multiply_naively<float>(x);
      const Comparison result = judge(x, kind);
      EXPECT_TRUE(result.ok()) << name_of(types) << " " << result.max_error_ratio;
    }
  }
}

// Sums as tensor cores leave them: 16 products at a time, cut towards zero.
TEST_P(AtK, SumsThatTensorCoresCutPass) {
  for (const Fill kind : {Fill::kUniform, Fill::kSameSign}) {
    TestOperands x(Problem{16, 16, GetParam(), kBf16IntoF32}, kind, GetParam());
    for (int i = 0; i < 16; ++i) {
      for (int j = 0; j < 16; ++j) {
        float sum = 0;
        for (std::int64_t k = 0; k < GetParam(); k += 16) {
          double group = sum;
          for (std::int64_t l = k; l < std::min<std::int64_t>(k + 16, GetParam()); ++l) {
            group += x.a.at(i, l) * x.b.at(l, j);
          }
          sum = static_cast<float>(group);
          if (std::abs(sum) > std::abs(group)) sum = std::nextafter(sum, 0.0f);
        }
        x.d.set(i, j, sum);
      }
    }
    const Comparison result = judge(x, kind);
    EXPECT_TRUE(result.ok()) << result.max_error_ratio;
  }
}

TEST(Compare, TheBoundOfCutSumsGrowsSlowly) {
  EXPECT_EQ(cut_chain_constant(1, Fill::kUniform, 16), 4);
  EXPECT_EQ(cut_chain_constant(16384, Fill::kUniform, 16), 44);
  EXPECT_EQ(cut_chain_constant(16384, Fill::kUniform, 8), 76);
  EXPECT_EQ(cut_chain_constant(10000, Fill::kSameSign, 16), 516.5);
  EXPECT_EQ(cut_chain_constant(10000, std::nullopt, 16), 10003);
  EXPECT_EQ(bound_for(kF32Types, 16384, Fill::kUniform).chain, 12 * 0x1p-24);
  EXPECT_EQ(bound_for(kBf16Types, 16384, Fill::kUniform).chain, 44 * 0x1p-24);
}

// The last bits of D are cut off instead of rounded.
TEST_P(AtK, ResultsCutToBf16AreRefused) {
  TestOperands x(Problem{16, 16, GetParam(), kBf16IntoF32});
  multiply_naively<float>(x);
  HostMatrix cut(ElementType::kBf16, x.d.view(), 256);
  for (int r = 0; r < 16; ++r) {
    for (int c = 0; c < 16; ++c) {
      const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(x.d.at(r, c)));
      cut.set(r, c, std::bit_cast<float>(bits & 0xffff0000u));
    }
  }
  const Comparison result =
      compare(cut, x.reference(), bound_for(kBf16Types, GetParam(), Fill::kUniform));
  EXPECT_FALSE(result.ok());
}

TEST_P(AtK, ADroppedIndexOfBf16IsRefused) {
  if (GetParam() > 1000) return;  // one of so many is less than a BF16 of the sum can hold
  TestOperands x(Problem{16, 16, GetParam(), kBf16Types});
  multiply_naively<float>(
      x, [](float v) { return v; }, GetParam() - 1);
  EXPECT_FALSE(judge(x, Fill::kUniform).ok());
}

// Sums in BF16 instead of FP32: seen in an FP32 result, and in a BF16 one of any depth.
TEST_P(AtK, SumsOfTooFewDigitsAreRefused) {
  for (const Types& types : {kBf16Types, kBf16IntoF32}) {
    TestOperands x(Problem{16, 16, GetParam(), types});
    for (int i = 0; i < 16; ++i) {
      for (int j = 0; j < 16; ++j) {
        Bfloat16 sum(0.0);
        for (std::int64_t k = 0; k < GetParam(); ++k)
          sum = Bfloat16(sum + x.a.at(i, k) * x.b.at(k, j));
        x.d.set(i, j, sum);
      }
    }
    EXPECT_FALSE(judge(x, Fill::kUniform).ok()) << name_of(types);
  }
}

// TF32 reads 11 digits of its operands: data of 11 digits keeps FP32's bound, a user's data needs
// room for what is cut.
TEST_P(AtK, Tf32HasTheBoundOfItsData) {
  const Types types = kTf32Types;
  TestOperands x(Problem{16, 16, GetParam(), types});
  multiply_naively<float>(
      x, [](float v) { return std::bit_cast<float>(std::bit_cast<std::uint32_t>(v) & ~0x1FFFu); });
  EXPECT_TRUE(compare(x.d, x.reference(), bound_for(types, GetParam(), Fill::kUniform)).ok());
  EXPECT_FALSE(compare(x.d, x.reference(), bound_for(types, GetParam(), Fill::kUniform, 11)).ok());
  EXPECT_EQ(bound_for(types, GetParam(), Fill::kUniform, 11).chain,
            cut_chain_constant(GetParam(), Fill::kUniform, 8) * 0x1p-24);
  EXPECT_DOUBLE_EQ(bound_for(types, GetParam(), Fill::kUniform).chain,
                   cut_chain_constant(GetParam(), Fill::kUniform, 8) * 0x1p-24 + 2 * 0x1p-10)
      << "one unit in the last place of each operand";
}

// Half of the smallest FP16 is lost near 0, however small the value is.
TEST(Compare, NumbersBelowTheSmallestOfTheTypeAreRight) {
  Problem problem{1, 1, 1, kF16Types};
  TestOperands x(problem);
  x.a.set(0, 0, 0x1p-14);
  x.b.set(0, 0, 0x1.1p-11);
  x.d.set(0, 0, 0x1p-24);
  const Bound bound = bound_for(kF16Types, 1, Fill::kUniform);
  EXPECT_TRUE(compare(x.d, x.reference(), bound).ok()) << "the true value is 2^-25 * 1.06";
  x.d.set(0, 0, 0);
  EXPECT_FALSE(compare(x.d, x.reference(), bound).ok());
  x.d.set(0, 0, 0x1p-24);
  x.b.set(0, 0, 0x1.7p-10);
  EXPECT_TRUE(compare(x.d, x.reference(), bound).ok());
  x.d.set(0, 0, 0x1p-23);
  EXPECT_FALSE(compare(x.d, x.reference(), bound).ok());
}

// An exact comparison asks for the value that the type of D holds, rounded once.
TEST(Compare, ExactValuesAreRoundedToTheTypeOfD) {
  TestOperands x(Problem{1, 1, 1, kBf16Types});
  x.a.set(0, 0, 17);
  x.b.set(0, 0, 23);
  x.d.set(0, 0, 392);  // 391 = 2^8 + 135, and BF16 has steps of 2 there
  EXPECT_TRUE(compare(x.d, x.reference(), {}).ok());
  x.d.set(0, 0, 390);
  EXPECT_FALSE(compare(x.d, x.reference(), {}).ok());
}

TEST(StrayWrites, AreSeenInEveryType) {
  for (const ElementType type :
       {ElementType::kF64, ElementType::kF32, ElementType::kF16, ElementType::kBf16,
        ElementType::kE4m3, ElementType::kE5m2, ElementType::kS8, ElementType::kS32}) {
    HostMatrix d(type, {5, 3, 1, 7}, 256, 1);  // columns of 5, gaps of 2
    EXPECT_EQ(find_stray_write(d, "D"), "") << name_of(type);
    d.set(4, 2, 1);
    EXPECT_EQ(find_stray_write(d, "D"), "") << name_of(type);
    const std::size_t gap = d.front_bytes() + 6 * static_cast<std::size_t>(size_of(type));
    for (const std::size_t at : {std::size_t{0}, d.front_bytes() - 1, gap, d.total_bytes() - 1}) {
      HostMatrix written = d.clone();
      written.bytes()[at] ^= std::byte{1};
      EXPECT_NE(find_stray_write(written, "D"), "") << name_of(type) << " " << at;
    }
  }
}

TEST(Describe, NamesUnwrittenEntriesOfEveryFloat) {
  for (const Types& types : {kF64Types, kF32Types, kF16Types, kBf16Types}) {
    TestOperands x(Problem{3, 3, 3, types});
    const Comparison result = judge(x, Fill::kUniform);
    EXPECT_NE(describe(result, types.d).find("was not written"), std::string::npos)
        << name_of(types);
    multiply_naively<double>(x);
    x.d.set(1, 1, kNaN);
    EXPECT_EQ(describe(judge(x, Fill::kUniform), types.d).find("was not written"),
              std::string::npos)
        << name_of(types);
  }
}

}  // namespace
}  // namespace tessera::lab
