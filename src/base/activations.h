// The activations that an epilogue may end with. One table serves problems, products on the CPU,
// the reference, the command line and the C API; Python reads the table through the C API. Device
// code of the activations is in kernels/epilogue/activations.h.
#pragma once

#include <cmath>

namespace tessera {

// The values are those of the activations in include/tessera/gemm.h.
enum class Activation : int { kIdentity, kRelu, kGelu, kGeluErf, kSilu };

// An activation as a function of one value, in the two precisions that the host uses. This code
// defines the activation: device code is tested against it.
struct ActivationFormula {
  double (*of_double)(double);
  long double (*of_long)(long double);

  double operator()(double x) const { return of_double(x); }
  long double operator()(long double x) const { return of_long(x); }
};

struct ActivationRow {
  Activation activation;
  const char* name;  // for the command line, records and Python
  const char* text;  // for messages
  ActivationFormula formula;
  double steepest_slope;  // largest factor by which an argument's error grows
  // The number of rounding errors in a result, each one unit roundoff of the type of the products'
  // sum. GELU and SiLU multiply x by a probability: the reciprocal of a sum of 1 and an
  // exponential. The exponential's argument has a few rounding errors, too.
  int roundings;
};

// WHY no lambdas in the table: a lambda is constexpr, and nvcc would compile it for the GPU, too.
namespace formula {

template <class T>
T identity(T x) {
  return x;
}
template <class T>
T relu(T x) {
  return x < 0 ? T(0) : x;
}
// SiLU and both forms of GELU are x times a probability, so minus infinity gives NaN, as in
// PyTorch. WHY exp: the usual form x (1 + tanh(u)) / 2 loses digits where the result is small.
template <class T>
T gelu(T x) {
  constexpr T kRootOf2OverPi = T(0.79788456080286535588L), kCubic = T(0.044715L);
  return x / (1 + std::exp(-2 * kRootOf2OverPi * (x + kCubic * x * x * x)));
}
template <class T>
T gelu_erf(T x) {
  return T(0.5) * x * std::erfc(-x * T(0.70710678118654752440L));
}
template <class T>
T silu(T x) {
  return x / (1 + std::exp(-x));
}

}  // namespace formula

inline constexpr ActivationRow kActivations[] = {
    {Activation::kIdentity, "identity", "", {formula::identity, formula::identity}, 1, 0},
    {Activation::kRelu, "relu", "relu", {formula::relu, formula::relu}, 1, 0},
    {Activation::kGelu, "gelu", "gelu", {formula::gelu, formula::gelu}, 1.13, 6},
    {Activation::kGeluErf,
     "gelu_erf",
     "gelu by erf",
     {formula::gelu_erf, formula::gelu_erf},
     1.13,
     6},
    {Activation::kSilu, "silu", "silu", {formula::silu, formula::silu}, 1.1, 6}};

inline constexpr int kActivationCount = sizeof kActivations / sizeof kActivations[0];

constexpr bool is_known(Activation activation) {
  return static_cast<int>(activation) >= 0 && static_cast<int>(activation) < kActivationCount;
}

// Returns the table row of an activation, which must be one of the enum's values.
constexpr const ActivationRow& row_of(Activation activation) {
  return kActivations[static_cast<int>(activation)];
}

constexpr bool activations_are_in_order() {
  for (int i = 0; i < kActivationCount; ++i) {
    if (static_cast<int>(kActivations[i].activation) != i) return false;
  }
  return true;
}
static_assert(activations_are_in_order());

}  // namespace tessera
