#include "lab/data/fill.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <set>

#include "lab/data/parallel.h"

namespace tessera::lab {
namespace {

HostMatrix make(ElementType type, std::int64_t rows, std::int64_t cols, bool column_major = true,
                std::int64_t pad = 0) {
  const MatrixView view =
      column_major ? MatrixView{rows, cols, 1, rows + pad} : MatrixView{rows, cols, cols + pad, 1};
  return HostMatrix(type, view, 256);
}

TEST(Fill, ValuesDoNotDependOnTheLayout) {
  HostMatrix down = make(ElementType::kF32, 37, 53, true, 3);
  HostMatrix across = make(ElementType::kF32, 37, 53, false, 0);
  fill(down, {Fill::kUniform, 5});
  fill(across, {Fill::kUniform, 5});
  for (int r = 0; r < 37; ++r) {
    for (int c = 0; c < 53; ++c) ASSERT_EQ(down.at(r, c), across.at(r, c)) << r << ", " << c;
  }
}

TEST(Fill, SeedsGiveDifferentData) {
  HostMatrix x = make(ElementType::kF64, 8, 8), y = make(ElementType::kF64, 8, 8);
  fill(x, {Fill::kUniform, 1});
  fill(y, {Fill::kUniform, 2});
  EXPECT_NE(x.at(3, 4), y.at(3, 4));
}

TEST(Fill, ATransposedMatrixIsNotTheSameMatrix) {
  HostMatrix x = make(ElementType::kF64, 8, 8);
  fill(x, {Fill::kUniform, 1});
  EXPECT_NE(x.at(3, 4), x.at(4, 3));
}

TEST(Fill, PoisonIsAMarkedNanOfEachFloat) {
  EXPECT_EQ(poison_of(ElementType::kF64), 0x7ff8a5a5a5a5a5a5u);
  EXPECT_EQ(poison_of(ElementType::kF32), 0x7fc5a5a5u);
  EXPECT_EQ(poison_of(ElementType::kF16), 0x7e25u);
  EXPECT_EQ(poison_of(ElementType::kBf16), 0x7fc5u);
  EXPECT_EQ(poison_of(ElementType::kE4m3), 0x7fu);
  EXPECT_EQ(poison_of(ElementType::kE5m2), 0x7eu);
  EXPECT_EQ(poison_of(ElementType::kS32), 0xa5a5a5a5u);
}

TEST(Fill, GapsAndGuardsStayPoison) {
  constexpr std::uint32_t kPoison32 = 0x7fc5a5a5u;
  HostMatrix x = make(ElementType::kF32, 3, 2, true, 2);
  fill(x, {Fill::kNormal, 1});
  const auto* words = reinterpret_cast<const std::uint32_t*>(x.bytes());
  const std::size_t first = x.front_bytes() / 4;
  EXPECT_EQ(words[first - 1], kPoison32);
  EXPECT_EQ(words[first + 3], kPoison32);  // the gap after column 0
  EXPECT_EQ(words[first + 4], kPoison32);
  EXPECT_NE(words[first + 5], kPoison32);
  EXPECT_EQ(words[x.total_bytes() / 4 - 1], kPoison32);
}

// A filled matrix rounded to fewer bits must change nearly everywhere, or the data has no mantissa.
TEST(Fill, MantissasAreFull) {
  HostMatrix x = make(ElementType::kF64, 100, 100), y = make(ElementType::kF32, 100, 100);
  fill(x, {Fill::kUniform, 3});
  fill(y, {Fill::kUniform, 3});
  int odd64 = 0, odd32 = 0;
  for (int i = 0; i < 10000; ++i) {
    odd64 += std::bit_cast<std::uint64_t>(x.elements<double>()[i]) & 1;
    odd32 += std::bit_cast<std::uint32_t>(y.elements<float>()[i]) & 1;
  }
  EXPECT_GT(odd64, 4000);  // half of the values lie in [1/2, 1) and have an odd last bit
  EXPECT_GT(odd32, 4000);
}

struct Moments {
  double mean = 0, deviation = 0, smallest = 1e9, largest = -1e9;
};

Moments moments(const HostMatrix& x) {
  Moments m;
  const double count = static_cast<double>(x.view().rows * x.view().cols);
  for (int r = 0; r < x.view().rows; ++r) {
    for (int c = 0; c < x.view().cols; ++c) {
      const double v = x.at(r, c);
      m.mean += v / count;
      m.deviation += v * v / count;
      m.smallest = std::min(m.smallest, v);
      m.largest = std::max(m.largest, v);
    }
  }
  m.deviation = std::sqrt(m.deviation - m.mean * m.mean);
  return m;
}

TEST(Fill, DistributionsHaveTheirMoments) {
  HostMatrix x = make(ElementType::kF32, 300, 300);
  fill(x, {Fill::kUniform, 7});
  Moments m = moments(x);
  EXPECT_NEAR(m.mean, 0, 0.01);
  EXPECT_NEAR(m.deviation, 1 / std::sqrt(3.0), 0.01);
  EXPECT_GT(m.smallest, -1);
  EXPECT_LT(m.largest, 1);

  fill(x, {Fill::kNormal, 7});
  m = moments(x);
  EXPECT_NEAR(m.mean, 0, 0.02);
  EXPECT_NEAR(m.deviation, 1, 0.02);
  EXPECT_GT(m.largest, 3);

  fill(x, {Fill::kSameSign, 7});
  m = moments(x);
  EXPECT_NEAR(m.mean, 0.5, 0.01);
  EXPECT_GT(m.smallest, 0);
  EXPECT_LT(m.largest, 1);

  fill(x, {Fill::kZeros, 7});
  m = moments(x);
  EXPECT_EQ(m.smallest, 0);
  EXPECT_EQ(m.largest, 0);
}

TEST(Fill, IntegersFillTheirRangeEvenly) {
  HostMatrix x = make(ElementType::kF32, 100, 100);
  fill(x, {Fill::kIntegers, 7, 3});
  int counts[7] = {};
  for (int i = 0; i < 10000; ++i) {
    const float v = x.elements<float>()[i];
    ASSERT_EQ(v, std::rint(v));
    ASSERT_LE(std::abs(v), 3);
    ++counts[static_cast<int>(v) + 3];
  }
  for (int count : counts) EXPECT_NEAR(count, 10000 / 7, 200);
}

TEST(Fill, DensityThinsIntegersOut) {
  HostMatrix x = make(ElementType::kF32, 100, 100);
  fill(x, {Fill::kIntegers, 7, 1, 0.3});
  int nonzero = 0;
  for (int i = 0; i < 10000; ++i) nonzero += x.elements<float>()[i] != 0;
  EXPECT_NEAR(nonzero, 2000, 200);  // two thirds of 30 %
}

// Big enough to be split over threads; the same as the small one at the same place.
TEST(Fill, SplittingTheWorkDoesNotChangeIt) {
  HostMatrix big = make(ElementType::kF32, 1000, 1000), small = make(ElementType::kF32, 10, 1000);
  fill(big, {Fill::kUniform, 9});
  fill(small, {Fill::kUniform, 9});
  for (int r = 0; r < 10; ++r) {
    for (int c = 0; c < 1000; ++c) ASSERT_EQ(big.at(r, c), small.at(r, c));
  }
}

TEST(Fill, PlacesNaNs) {
  HostMatrix x = make(ElementType::kF64, 20, 20);
  fill(x, {Fill::kUniform, 1});
  place(x, 3, 11);
  int nans = 0;
  for (int i = 0; i < 400; ++i) nans += std::isnan(x.elements<double>()[i]);
  EXPECT_GE(nans, 1);
  EXPECT_LE(nans, 3);
}

TEST(Fill, NamesAreParsedBack) {
  for (Fill kind : {Fill::kUniform, Fill::kNormal, Fill::kIntegers, Fill::kSameSign, Fill::kSpread,
                    Fill::kZeros}) {
    EXPECT_EQ(parse_fill(name_of(kind)), kind);
  }
  EXPECT_THROW(parse_fill("random"), StatusError);
}

TEST(HostMatrix, RefusesMoreMemoryThanThereIs) {
  const std::int64_t side = std::int64_t{1} << 22;
  try {
    HostMatrix(ElementType::kF64, {side, side, 1, side}, 0);
    FAIL() << "140 TB were given";
  } catch (const StatusError& error) {
    EXPECT_EQ(error.status().code, StatusCode::kUnavailable);
    EXPECT_NE(error.status().message.find("140737.5 GB"), std::string::npos) << error.what();
  }
}

TEST(ParallelFor, CoversEveryIndexOnceAndPassesExceptionsOn) {
  std::vector<std::atomic<int>> seen(1000);
  parallel_for(1000, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) ++seen[i];
  });
  for (const auto& count : seen) EXPECT_EQ(count, 1);
  EXPECT_THROW(parallel_for(10, 1, [](std::int64_t, std::int64_t) { throw 7; }), int);
}

constexpr ElementType kNarrow[] = {ElementType::kF16, ElementType::kBf16, ElementType::kE4m3,
                                   ElementType::kE5m2};

// Odd multiples of 2^-digits: no value is 0, none needs more digits, all are in use.
TEST(Fill, NarrowTypesUseAllOfTheirDigits) {
  for (const ElementType type : kNarrow) {
    const double step = unit_roundoff(type);
    for (const Fill kind : {Fill::kUniform, Fill::kSameSign}) {
      HostMatrix x = make(type, 40, 50);
      fill(x, {kind, 7});
      double largest = 0;
      for (int r = 0; r < 40; ++r) {
        for (int c = 0; c < 50; ++c) {
          const double units = x.at(r, c) / step;
          ASSERT_EQ(std::fmod(std::abs(units), 2), 1) << name_of(type) << " " << units;
          largest = std::max(largest, x.at(r, c));
        }
      }
      EXPECT_LT(largest, 1);
      EXPECT_GT(largest, 0.8) << name_of(type);
    }
  }
}

TEST(Fill, DigitsCanBeCapped) {
  for (const Fill kind : {Fill::kUniform, Fill::kNormal}) {
    HostMatrix x = make(ElementType::kF32, 30, 30), y = make(ElementType::kF32, 30, 30);
    fill(x, {kind, 3, 1, 1.0, 11});
    fill(y, {kind, 3});
    int changed = 0;
    for (int r = 0; r < 30; ++r) {
      for (int c = 0; c < 30; ++c) {
        int exponent = 0;
        const double digits = std::frexp(x.at(r, c), &exponent) * 2048;
        ASSERT_EQ(digits, std::rint(digits));
        changed += x.at(r, c) != y.at(r, c);
      }
    }
    EXPECT_GT(changed, 800);
  }
}

TEST(Fill, UniformIntegersAreAllValuesOfTheType) {
  for (const ElementType type : {ElementType::kS8, ElementType::kU8, ElementType::kS16}) {
    const ElementFacts& facts = facts_of(type);
    HostMatrix x = make(type, 1000, 1000);
    fill(x, {Fill::kUniform, 1});
    double least = 0, most = 0, sum = 0;
    for (int r = 0; r < 1000; ++r) {
      for (int c = 0; c < 1000; ++c) {
        least = std::min(least, x.at(r, c));
        most = std::max(most, x.at(r, c));
        sum += x.at(r, c);
      }
    }
    const bool is_signed = facts.kind == NumberKind::kSigned;
    EXPECT_EQ(most, facts.largest) << name_of(type);
    EXPECT_EQ(least, is_signed ? -facts.largest - 1 : 0) << name_of(type);
    EXPECT_NEAR(sum / 1e6, (least + most) / 2, facts.largest / 100) << name_of(type);
  }
  HostMatrix x = make(ElementType::kS32, 30, 30);
  fill(x, {Fill::kUniform, 1});
  EXPECT_NE(x.at(0, 0), x.at(0, 1));
}

TEST(Fill, IntegerTypesTakeIntegersAlone) {
  for (const ElementType type : {ElementType::kS8, ElementType::kU8, ElementType::kS32}) {
    HostMatrix x = make(type, 30, 30);
    for (const Fill kind : {Fill::kNormal, Fill::kSameSign}) {
      EXPECT_THROW(fill(x, {kind, 1}), StatusError) << name_of(kind);
    }
    fill(x, {Fill::kIntegers, 1, 100});
    double least = 0, most = 0;
    for (int r = 0; r < 30; ++r) {
      for (int c = 0; c < 30; ++c) {
        least = std::min(least, x.at(r, c));
        most = std::max(most, x.at(r, c));
      }
    }
    EXPECT_GT(most, 90);
    EXPECT_EQ(least < -90, type != ElementType::kU8);
  }
}

}  // namespace
}  // namespace tessera::lab
