// Integer inputs for which every product and every partial sum, in any order, is exact in the type:
// a correct kernel must then give exactly the right value, and no rounding bound can hide a bug.
#pragma once

#include <cstdint>

#include "lab/data/fill.h"
#include "problem/problem.h"

namespace tessera::lab {

// Alpha, beta and D are whole numbers of quarters.
inline constexpr double kQuarters = 4;

// alpha and beta must be multiples of 1/4 of size 16 at most, or the scaling would round; others
// are replaced by 1 or -1. With a D of fewer than 24 digits their size is at most 2. GELU, which is
// exact nowhere, becomes ReLU.
Problem with_exact_scales(Problem problem);

// Limit and density for which sum |a||b| stays below the range that is exact where products are
// summed for this k and, when asked, in D, too; else D is that sum, rounded once.
FillSpec exact_integers(const Problem& problem, std::uint64_t seed, bool exact_in_d = false);
// The largest scale of an epilogue that exact_integers() leaves room for.
inline constexpr int kLargestExactScale = 2;

}  // namespace tessera::lab
