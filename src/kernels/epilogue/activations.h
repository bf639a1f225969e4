// The activations of an epilogue as functions of one value. `Math` provides exp2, the reciprocal
// and the normal distribution, which a GPU approximates. The rest is constexpr, so that the host
// can test these functions with its own Math.
#pragma once

#include "base/activations.h"

namespace tessera::epilogue {

struct NoActivation {
  template <class T>
  constexpr T operator()(T x) const {
    return x;
  }
};

// WHY no max(): it would not return NaN for NaN.
struct Relu {
  template <class T>
  constexpr T operator()(T x) const {
    return x < T(0) ? T(0) : x;
  }
};

// Returns x (1 + tanh(u)) / 2 with u = sqrt(2 / pi) (x + 0.044715 x^3), as x / (1 + exp(-2 u)):
// small results keep their digits, and exp2 and a reciprocal replace the hyperbolic tangent.
template <class Math>
struct Gelu {
  template <class T>
  constexpr T operator()(T x) const {
    constexpr T kLinear = T(-2.302208198144325);  // -2 sqrt(2 / pi) log2(e)
    constexpr T kCubic = T(-0.1029432395800235);  // times 0.044715
    const T power = Math::exp2(x * (kLinear + kCubic * (x * x)));
    return x * Math::reciprocal(T(1) + power);
  }
};

// Returns x times the probability that a normal number is below x: x (1 + erf(x / sqrt(2))) / 2.
template <class Math>
struct GeluErf {
  template <class T>
  constexpr T operator()(T x) const {
    return x * Math::normal(x);
  }
};

// Returns the probability that a normal number is below x (Press et al., Numerical Recipes, section
// 6.2, erfc; relative error below 1.2e-7). WHY log2(e): exp2 replaces exp.
template <class Math>
constexpr float normal_probability(float x) {
  constexpr float kLog2E = 1.44269504f;
  constexpr float kOf[] = {-1.26551223f * kLog2E, 1.00002368f * kLog2E,  0.37409196f * kLog2E,
                           0.09678418f * kLog2E,  -0.18628806f * kLog2E, 0.27886807f * kLog2E,
                           -1.13520398f * kLog2E, 1.48851587f * kLog2E,  -0.82215223f * kLog2E,
                           0.17087277f * kLog2E};
  const float z = (x < 0 ? -x : x) * 0.70710678f;
  const float t = Math::reciprocal(1 + 0.5f * z);
  float exponent = kOf[9];
  for (int i = 8; i >= 0; --i) exponent = kOf[i] + t * exponent;
  const float below = 0.5f * t * Math::exp2(exponent - kLog2E * z * z);
  return x < 0 ? below : 1 - below;
}

// GeluErf for a D of 16 bits, as x / (1 + 2^(x q(x^2))): eleven instructions, two of them
// approximations, instead of thirty. The polynomial q is fitted: the relative error of the result
// is at most 2e-4; results below 4e-5 x have an absolute error of at most 3e-8 x.
template <class Math>
struct NarrowGeluErf {
  constexpr float operator()(float x) const {
    constexpr float kLargest = 5.6f * 5.6f;  // square that q is fitted to
    constexpr float kOf[] = {-2.3021905422210693f,     -0.10487011820077896f,
                             0.00011254361743340269f,  0.0001556025817990303f,
                             -1.1057390111091081e-05f, 3.6615935528061527e-07f,
                             -4.879821879910651e-09f};
    const float square = Math::smaller(x * x, kLargest);
    float q = kOf[6];
    for (int i = 5; i >= 0; --i) q = kOf[i] + square * q;
    return x * Math::reciprocal(1 + Math::exp2(x * q));
  }
};

// Returns x (1 + tanh(x / 2)) / 2, as x / (1 + exp(-x)).
template <class Math>
struct Silu {
  template <class T>
  constexpr T operator()(T x) const {
    constexpr T kLog2E = T(1.4426950408889634);
    return x * Math::reciprocal(T(1) + Math::exp2(x * -kLog2E));
  }
};

// Calls `use` with the activation. All threads of a launch take the same branch. `narrow`: D has 16
// bits, so a slightly less exact form is sufficient.
//
// WHY no switch: ptxas compiles five cases to an indirect jump through a table.
template <class Math, bool narrow, class Use>
constexpr auto with_activation(Activation activation, const Use& use) {
  static_assert(kActivationCount == 5, "an activation without a branch would be GELU by erf");
  if (activation <= Activation::kRelu) {
    return activation == Activation::kRelu ? use(Relu{}) : use(NoActivation{});
  }
  if (activation == Activation::kSilu) return use(Silu<Math>{});
  if (activation == Activation::kGelu) return use(Gelu<Math>{});
  if constexpr (narrow) {
    return use(NarrowGeluErf<Math>{});
  } else {
    return use(GeluErf<Math>{});
  }
}

}  // namespace tessera::epilogue
