#include "lab/data/integers.h"

#include <algorithm>
#include <cmath>

namespace tessera::lab {
namespace {

// Limits of the scale of the epilogue. If D has few digits, little room is left for the factors.
constexpr double kLargestScale = 16, kLargestNarrowScale = 2;
constexpr int kNarrowDigits = 24;

double exact_scale(double scale, const Types& types) {
  const bool narrow = facts_of(types.d).digits < kNarrowDigits;
  const double largest = narrow ? kLargestNarrowScale : kLargestScale;
  const bool exact =
      std::abs(scale) <= largest && scale * kQuarters == std::rint(scale * kQuarters);
  if (exact) return scale;
  return std::signbit(scale) ? -1.0 : 1.0;
}

// Returns the largest integer up to which all integers are exact in A, B and C.
int largest_limit(const Types& types) {
  double limit = 64;
  for (const ElementType type : {types.a, types.b, types.c}) {
    const ElementFacts& facts = facts_of(type);
    if (facts.kind == NumberKind::kNone) refuse_type("the choice of exact integers", type);
    limit = std::min(
        limit, facts.kind == NumberKind::kFloat ? std::ldexp(1.0, facts.digits) : facts.largest);
  }
  return static_cast<int>(limit);
}

}  // namespace

Problem with_exact_scales(Problem problem) {
  problem.alpha = exact_scale(problem.alpha, problem.types);
  problem.beta = exact_scale(problem.beta, problem.types);
  Activation& activation = problem.epilogue.activation;
  if (activation != Activation::kIdentity) activation = Activation::kRelu;
  return problem;
}

FillSpec exact_integers(const Problem& problem, std::uint64_t seed, bool exact_in_d) {
  // In quarters, the largest value is |alpha| k L^2 + |beta| L. It must be exact in the type of the
  // sums and within the range of D, so half of that range is reserved for the second term and as a
  // margin.
  const ElementFacts& d = facts_of(problem.types.d);
  const int sum_digits = facts_of(facts_of(problem.types.compute).sum).digits;
  const int digits = exact_in_d ? std::min(sum_digits, d.digits) : sum_digits;
  const double range = std::min(std::ldexp(1.0, digits - 1), d.largest * kQuarters / 2);
  const double scale = kQuarters *
                       std::max({1.0, std::abs(problem.alpha), std::abs(problem.beta)}) *
                       (problem.epilogue.scale == VectorKind::kNone ? 1 : kLargestExactScale);
  const double square = range / (scale * std::max<double>(1.0, problem.k));
  FillSpec spec{Fill::kIntegers, seed, 1, 1.0};
  spec.limit = std::clamp(static_cast<int>(std::min(std::sqrt(square), 1e6)), 1,
                          largest_limit(problem.types));
  // If sums would be too large even with entries of -1, 0 and 1, some entries of both operands are
  // replaced by 0: sum |a||b| falls with the square of the density. 2/3 of the others are not 0.
  if (square < 1) spec.density = std::sqrt(square);
  return spec;
}

}  // namespace tessera::lab
