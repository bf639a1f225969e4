// Decides whether results are right. A tolerance that grows like k lets a kernel pass that rounds
// its inputs to 11 bits. The bound here is componentwise, and its constant follows the rounding
// errors that a correct chain of fused multiply-adds really makes.
//
//   |d - ref| <= c(k) u (|alpha||A||B| + |beta||C|)_ij + u_out |ref|
//
// After an epilogue f(scale (...) + bias) the magnitude is L (|scale| (...) + |bias|), where L is
// the steepest slope of f, and c(k) has a few more roundings.
//
// u is the unit roundoff of the type in which products are summed, u_out is the unit roundoff of
// D's type. BF16 operands whose exact products are summed in FP32 have the bound of FP32, and one
// rounding at the end. Tensor cores cut their sums towards zero once for each 32 bytes of k
// (docs/tensor-arithmetic.md), so types whose products they sum in FP32 have a larger c.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lab/data/fill.h"
#include "lab/data/matrix.h"
#include "lab/verify/reference.h"

namespace tessera::lab {

// Returns c(k) for the kind of data: min(k + 3, 12) if signs cancel, min(k + 3, 4 + 2 sqrt(k)) if
// they do not, and k + 3 for a user's data (no fill).
double chain_constant(std::int64_t k, std::optional<Fill> fill);
// Like chain_constant, if each sum of `group` products is added and cut towards zero: min(k + 3, 12
// + 4 sqrt(k) / group) if signs cancel, min(k + 3, 4 + 2 sqrt(k) + k / (2 group)) if they do not.
// Simulated chains of 64 ... 16384 terms need 2.4 sqrt(k) / group at most, and 0.36 k / group.
double cut_chain_constant(std::int64_t k, std::optional<Fill> fill, int group);
// Like chain_constant, for operands that are split into terms. A chain covers 32 of k, and ordinary
// additions combine the sums of the chains. The last two steps of a chain add large products. Each
// step makes five roundings on average, of a sum that grows; simulated sums of 1000 of k need 4 at
// most. Leaving out the product of two low terms costs four roundings. The result is at least
// chain_constant(k), since kernels of FP32 may compute the product.
double promoted_chain_constant(std::int64_t k, std::optional<Fill> fill);

struct Bound {
  double chain = 0;  // c(k) * u of what products are summed in
  double out = 0;    // u of the output's type
  double tiny = 0;   // half of the output's smallest number: the error of numbers near 0
  // Whether the bound is 0, so that the result must be the value itself, rounded once to the
  // output's type.
  bool exact() const { return chain == 0 && out == 0 && tiny == 0; }
};
// `digits`: how many digits of A and B are in use; 0: all that their types have (TF32 drops some).
Bound bound_for(const Types& types, std::int64_t k, std::optional<Fill> fill, int digits = 0);
// Returns the bound after an epilogue.
Bound bound_after(const Epilogue& epilogue, Bound bound, const Types& types);

struct Mismatch {
  std::int64_t row = 0, col = 0;
  double got = 0, want = 0;
};

struct Comparison {
  std::int64_t checked = 0, bad = 0;
  double max_error_ratio =
      0;  // error over bound; infinity where the bound is 0 and the value wrong
  std::optional<Mismatch> first;  // lowest row, then column
  bool ok() const { return bad == 0; }
};

// NaN is right only where the reference is NaN. An infinity is right only where the reference is
// the same infinity or overflows the type. +0 and -0 are equal.
Comparison compare(const HostMatrix& d, const Reference& reference, const Bound& bound);

// Find writes outside the elements: the first compares guards and gaps with poison, the second
// every byte with a copy of the matrix as it was. The sentence says where; it is empty if nothing
// was written.
std::string find_stray_write(const HostMatrix& d, std::string_view name);
std::string find_change(const HostMatrix& now, const HostMatrix& before, std::string_view name);

// Returns "D(3, 7) is 1.5 and should be 2 (12 of 4096 entries are wrong)". Also names entries that
// were never written.
std::string describe(const Comparison& comparison, ElementType type, std::string_view name = "D");

}  // namespace tessera::lab
