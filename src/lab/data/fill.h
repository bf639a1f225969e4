// Test and benchmark data. A value depends on seed, row and column of the logical matrix only,
// never on layout, order, leading dimension or the number of threads: the same product in every
// layout.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "lab/data/matrix.h"

namespace tessera::lab {

enum class Fill {
  kUniform,   // (-1, 1), full mantissas; any value of an integer type
  kNormal,    // mean 0, deviation 1, full mantissas
  kIntegers,  // -limit .. limit; integers.h chooses a limit that keeps sums exact
  kSameSign,  // (0, 1), full mantissas: errors add up instead of cancelling
  kSpread,    // (-1, 1), half of the values times 2^-30: more exponents than FP16 has
  kZeros,
};

std::string_view name_of(Fill fill);
Fill parse_fill(std::string_view name);  // throws kBadArgument that lists the names

struct FillSpec {
  Fill kind = Fill::kUniform;
  std::uint64_t seed = 1;
  int limit = 1;         // kIntegers: largest magnitude
  double density = 1.0;  // kIntegers: share of entries that are drawn; other entries are 0
  int digits = 0;        // other fills: most significant bits; 0: all bits that the type has
};

// Writes every element of the matrix; guards and gaps are not changed. Throws kUnsupported if the
// type cannot hold the values: all fills but integers and zeros need a floating-point type.
void fill(HostMatrix& matrix, const FillSpec& spec);

// Puts `value` at `count` seeded positions (which may coincide).
void place(HostMatrix& matrix, int count, std::uint64_t seed,
           double value = std::numeric_limits<double>::quiet_NaN());

// Returns 64 well mixed bits of a number. All seeded choices here are based on it.
constexpr std::uint64_t mix_bits(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

}  // namespace tessera::lab
