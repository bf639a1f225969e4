// Makes integer inputs for which every product and every partial sum, in any order, is exact in the
// type. A correct kernel must then give exactly the right value, and no rounding bound can hide a
// bug.
#pragma once

#include <cstdint>

#include "lab/data/fill.h"
#include "problem/problem.h"

namespace tessera::lab {

// Alpha, beta and D are multiples of one quarter.
inline constexpr double kQuarters = 4;

// Returns the problem with scales that keep results exact. alpha and beta must be multiples of 1/4
// of size 16 at most, or 2 at most if D has fewer than 24 digits; others are replaced by 1 or -1.
// GELU, which is not exact in any type, becomes ReLU.
Problem with_exact_scales(Problem problem);

// Returns a limit and a density of the entries, so that for this k sum |a||b| stays in the range in
// which sums are exact. If `exact_in_d`, D is exact, too; else D is the exact sum, rounded once.
FillSpec exact_integers(const Problem& problem, std::uint64_t seed, bool exact_in_d = false);
// The largest scale of an epilogue for which exact_integers() leaves room.
inline constexpr int kLargestExactScale = 2;

}  // namespace tessera::lab
