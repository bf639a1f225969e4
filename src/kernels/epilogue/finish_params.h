// The epilogue of a problem in a kernel's parameters. Plain data. Rows and columns are those of the
// canonical D, which is row-major.
#pragma once

#include "base/activations.h"

namespace tessera::epilogue {

// A vector with one value for each row of D, or for each column.
struct Vector {
  const void* values;  // null: there is none
  long long count;
  int by_row;      // 1: one value per row; 0: one per column
  int unused = 0;  // so that the struct has no padding
};

// D = activation(scale * (alpha * sum + beta * C) + bias)
struct Finish {
  Vector scale;  // values have the type of the sums
  Vector bias;   // values have the type of D
  Activation activation;
  int unused = 0;
};

// The epilogue that the store of a tile can apply to a D of 16 bits: a bias, then an activation.
struct Fused {
  Vector bias;
  Activation activation;
  int unused = 0;
};

}  // namespace tessera::epilogue
