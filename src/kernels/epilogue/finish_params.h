// The epilogue of a problem as kernels are handed it: plain data, part of a kernel's parameters.
// Rows and columns are those of the canonical D, whose columns are adjacent.
#pragma once

#include "base/activations.h"

namespace tessera::epilogue {

// One value for each row of D, or for each column.
struct Vector {
  const void* values;  // null: there is none
  long long count;
  int by_row;      // 1: for each row
  int unused = 0;  // no padding
};

// D = activation(scale * (alpha * sum + beta * C) + bias)
struct Finish {
  Vector scale;  // of the type of the sums
  Vector bias;   // of the type of D
  Activation activation;
  int unused = 0;
};

// The epilogues that stores of tiles apply, to a D of 16 bits: a bias, then an activation.
struct Fused {
  Vector bias;
  Activation activation;
  int unused = 0;
};

}  // namespace tessera::epilogue
