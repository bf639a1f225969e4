// Compares results of integer inputs (lab/data/integers.h) where a reference product would take too
// long.
#pragma once

#include <cstdint>

#include "lab/data/matrix.h"
#include "lab/verify/compare.h"
#include "problem/problem.h"

namespace tessera::lab {

// Compares every entry of D, which must be exact, with alpha A B + beta C, in O(MK + KN + MN)
// instead of O(MNK): D x must equal alpha A (B x) + beta (C x) for a seeded random x, in integers
// modulo 2^64. A wrong row passes with a probability below 2^-37. `before` is C as it was before
// the run.
Comparison compare_rows_exactly(const Problem& problem, const HostMatrix& a, const HostMatrix& b,
                                const HostMatrix& c, const HostMatrix& d, std::uint64_t seed);

}  // namespace tessera::lab
