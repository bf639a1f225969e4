// The epilogue of a problem as kernels are handed it: plain data, part of a kernel's parameters.
// Rows and columns are those of the canonical D, whose columns are adjacent.
#pragma once

namespace tessera::epilogue {

// One value for each row of D, or for each column.
struct Vector {
  const void* values;  // null: there is none
  long long count;
  int by_row;      // 1: for each row
  int unused = 0;  // no padding
};

enum class Activation : int { kIdentity, kRelu, kGelu, kGeluErf };

// D = activation(scale * (alpha * sum + beta * C) + bias)
struct Finish {
  Vector scale;  // of the type of the sums
  Vector bias;   // of the type of D
  Activation activation;
  int unused = 0;
};

// The epilogues that stores of tiles apply, to a D of 16 bits: a bias, then nothing, ReLU or either
// GELU. x times the probability that both forms of GELU have in them is x / (1 + 2^(x q(x^2))); the
// host says which polynomial q is, so that one code serves both.
inline constexpr int kPowerTerms = 7;
struct Fused {
  Vector bias;
  Activation activation;
  float largest;             // of x^2 in q
  float power[kPowerTerms];  // coefficients of q, the constant one first
  int unused = 0;
};

// q of the hyperbolic tangent is exact.
inline constexpr float kAnySquare = 3.0e38f;
inline constexpr float kPowerOfGelu[kPowerTerms] = {-2.302208198144325f, -0.1029432395800235f};
// That of erf is fitted: the result is at most 2e-4 of itself off, or 3e-8 x where it is smaller
// than 4e-5 of x.
inline constexpr float kLargestSquareOfErf = 5.6f * 5.6f;
inline constexpr float kPowerOfGeluErf[kPowerTerms] = {
    -2.3021905422210693f,   -0.10487011820077896f,    0.00011254361743340269f,
    0.0001556025817990303f, -1.1057390111091081e-05f, 3.6615935528061527e-07f,
    -4.879821879910651e-09f};

}  // namespace tessera::epilogue
