// Test and benchmark data. A value depends on seed, row and column of the logical matrix only,
// never on layout, order, leading dimension or the number of threads: the same product in every
// layout.
#pragma once

#include <cstdint>
#include <string_view>

#include "lab/matrix.h"

namespace tessera::lab {

enum class Fill {
  kUniform,   // [-1, 1], full mantissas
  kNormal,    // mean 0, deviation 1, full mantissas
  kIntegers,  // -limit .. limit; see integers.h for a limit that keeps sums exact
  kSameSign,  // [0, 1], full mantissas: errors add up instead of cancelling
  kZeros,
};

std::string_view name_of(Fill fill);
Fill parse_fill(std::string_view name);  // throws kBadArgument that lists the names

struct FillSpec {
  Fill kind = Fill::kUniform;
  std::uint64_t seed = 1;
  int limit = 1;         // of kIntegers
  double density = 1.0;  // of kIntegers: share of entries that may be nonzero
};

// Writes every element of the matrix; guards and gaps stay as they are.
void fill(HostMatrix& matrix, const FillSpec& spec);

// Puts `count` NaNs (or `value`s) at seeded positions.
void place(HostMatrix& matrix, int count, std::uint64_t seed,
           double value = std::numeric_limits<double>::quiet_NaN());

}  // namespace tessera::lab
