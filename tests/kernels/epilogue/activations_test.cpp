// The operations of epilogues as functions of one value, with the host's exp2 and reciprocal in the
// place of a GPU's.
#include "kernels/epilogue/activations.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <type_traits>

namespace tessera::epilogue {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct HostMath {
  static float exp2(float x) { return std::exp2(x); }
  static float reciprocal(float x) { return 1 / x; }
  static float smaller(float x, float y) { return std::fmin(x, y); }
  static float normal(float x) { return normal_probability<HostMath>(x); }
  static double exp2(double x) { return std::exp2(x); }
  static double reciprocal(double x) { return 1 / x; }
  static double normal(double x) { return 0.5 * std::erfc(-x * std::sqrt(0.5)); }
};

double gelu(double x) {
  return x / (1 + std::exp(-2 * std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}
double gelu_erf(double x) { return 0.5 * x * std::erfc(-x * std::sqrt(0.5)); }

TEST(Activations, ReluKeepsNaN) {
  static_assert(Relu{}(2.0f) == 2.0f && Relu{}(-2.0f) == 0.0f && Relu{}(0.0) == 0.0);
  EXPECT_TRUE(std::isnan(Relu{}(std::nanf(""))));
  EXPECT_EQ(Relu{}(-kInfinity), 0);
  EXPECT_EQ(Relu{}(kInfinity), kInfinity);
}

// In units of FP32's rounding of x; and relative, where the result is not tiny.
TEST(Activations, GeluIsAsGoodAsItsRounding) {
  for (double x = -12; x <= 12; x += 1.0 / 512) {
    const auto f = static_cast<float>(x);
    const double unit = 0x1p-24 * std::abs(x) + 1e-45;
    EXPECT_LE(std::abs(Gelu<HostMath>{}(f)-gelu(x)), 4 * unit) << x;
    EXPECT_LE(std::abs(GeluErf<HostMath>{}(f)-gelu_erf(x)), 4 * unit) << x;
    EXPECT_NEAR(Gelu<HostMath>{}(x), gelu(x), 4e-16 * std::abs(x)) << x;
    EXPECT_NEAR(GeluErf<HostMath>{}(x), gelu_erf(x), 4e-16 * std::abs(x)) << x;
    if (x < -5) continue;
    EXPECT_NEAR(Gelu<HostMath>{}(f), gelu(x), 3e-6 * std::abs(gelu(x))) << x;
    EXPECT_NEAR(GeluErf<HostMath>{}(f), gelu_erf(x), 3e-6 * std::abs(gelu_erf(x))) << x;
  }
}

double silu(double x) { return x / (1 + std::exp(-x)); }

TEST(Activations, SiluIsAsGoodAsItsRounding) {
  for (double x = -20; x <= 20; x += 1.0 / 512) {
    const auto f = static_cast<float>(x);
    EXPECT_LE(std::abs(Silu<HostMath>{}(f)-silu(x)), 4 * 0x1p-24 * std::abs(x) + 1e-45) << x;
    EXPECT_NEAR(Silu<HostMath>{}(x), silu(x), 4e-16 * std::abs(x)) << x;
    EXPECT_NEAR(Silu<HostMath>{}(f), silu(x), 3e-6 * std::abs(silu(x))) << x;
  }
  EXPECT_NEAR(row_of(Activation::kSilu).formula(1.0), 0.7310585786300049, 1e-15);
  EXPECT_NEAR(row_of(Activation::kSilu).formula(-2.0), -0.2384058440442351, 1e-15);
}

TEST(Activations, AFittedFormOfErfServesANarrowD) {
  for (double x = -12; x <= 12; x += 1.0 / 512) {
    const float erf = NarrowGeluErf<HostMath>{}(static_cast<float>(x));
    const double allowed = std::max(2.1e-4 * std::abs(gelu_erf(x)), 3e-8 * std::abs(x));
    EXPECT_LE(std::abs(erf - gelu_erf(x)), allowed) << x;
  }
}

// The table defines an activation for the host, and this is what a GPU computes for it.
TEST(Activations, AGpuHasEachOfTheTable) {
  for (const ActivationRow& row : kActivations) {
    for (double x = -12; x <= 12; x += 1.0 / 64) {
      const double want = row.formula(x);
      const auto f = static_cast<float>(x);
      const auto with = [&]<bool narrow>(auto value, std::bool_constant<narrow>) -> double {
        return with_activation<HostMath, narrow>(
            row.activation, [&](auto activated) -> double { return activated(value); });
      };
      EXPECT_NEAR(with(f, std::false_type{}), want, 1e-6 * std::abs(x)) << row.name << x;
      EXPECT_NEAR(with(f, std::true_type{}), want, 2.1e-4 * std::abs(want) + 3e-7 * std::abs(x))
          << row.name << x;
      const auto exact = static_cast<double>(row.formula(static_cast<long double>(x)));
      EXPECT_NEAR(want, exact, 1e-15 * std::abs(x)) << row.name << x;
    }
  }
}

// The steepest slope is an upper bound, and no much larger one.
TEST(Activations, SlopesOfTheTable) {
  for (const ActivationRow& row : kActivations) {
    double steepest = 0;
    for (double x = -12; x <= 12; x += 1.0 / 512) {
      steepest = std::max(steepest, std::abs(row.formula(x + 0x1p-10) - row.formula(x)) * 0x1p10);
    }
    EXPECT_LE(steepest, row.steepest_slope) << row.name;
    EXPECT_GE(steepest, row.steepest_slope - 0.01) << row.name;
  }
}

TEST(Activations, LargeValuesInfinitiesAndNaN) {
  const auto all = [](float x, auto&& expect) {
    expect(Gelu<HostMath>{}(x));
    expect(GeluErf<HostMath>{}(x));
    expect(Silu<HostMath>{}(x));
    expect(NarrowGeluErf<HostMath>{}(x));
  };
  for (const float x : {50.0f, 1e10f, 1e20f, 3e38f, kInfinity}) {
    all(x, [&](float y) { EXPECT_EQ(y, x); });
  }
  for (const float x : {-50.0f, -1e10f, -1e20f, -3e38f}) {
    all(x, [&](float y) { EXPECT_NEAR(y, 0, 1e-19) << x; });
  }
  all(-kInfinity, [](float y) { EXPECT_TRUE(std::isnan(y)); });
  all(std::nanf(""), [](float y) { EXPECT_TRUE(std::isnan(y)); });
  all(0.0f, [](float y) { EXPECT_EQ(y, 0); });
}

}  // namespace
}  // namespace tessera::epilogue
