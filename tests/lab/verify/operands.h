// Small problems for tests, and a plain triple loop in the type of the operands: a model of a right
// kernel, with hooks to make it wrong.
#pragma once

#include <cmath>
#include <functional>

#include "lab/data/fill.h"
#include "lab/data/matrix.h"
#include "lab/verify/compare.h"
#include "lab/verify/reference.h"

namespace tessera::lab {

struct TestOperands {
  Problem problem;
  HostMatrix a, b, c, d;

  explicit TestOperands(const Problem& given, Fill kind = Fill::kUniform, std::uint64_t seed = 1)
      : problem(with_default_ld(given)),
        a(problem.types.a, view_a(problem), 256),
        b(problem.types.b, view_b(problem), 256),
        c(problem.types.c, view_c(problem), 256),
        d(problem.types.d, view_d(problem), 256) {
    fill(a, {kind, seed});
    fill(b, {kind, seed + 100});
    fill(c, {kind, seed + 200});
  }

  Reference reference(const ReferenceOptions& options = {}) const {
    return make_reference(problem, a, b, c, options);
  }
};

// D = alpha A B + beta C by a chain of fused multiply-adds in T. `operand` may change what is read.
template <class T>
void multiply_naively(
    TestOperands& x, const std::function<T(T)>& operand = [](T v) { return v; },
    std::int64_t skipped_k = -1) {
  const Problem& p = x.problem;
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      T sum = 0;
      for (std::int64_t k = 0; k < p.k; ++k) {
        if (k == skipped_k) continue;
        sum = std::fma(operand(static_cast<T>(x.a.at(i, k))), operand(static_cast<T>(x.b.at(k, j))),
                       sum);
      }
      T value = static_cast<T>(p.alpha) * sum;
      if (p.beta != 0)
        value = std::fma(static_cast<T>(p.beta), static_cast<T>(x.c.at(i, j)), value);
      x.d.set(i, j, value);
    }
  }
}

}  // namespace tessera::lab
