// Matrices of nearly as many bytes as 63 bits count: each operand by its own type.
#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "problem/problem.h"

namespace tessera {
namespace {

// One operand is as large as it may be, or one line larger, and has a wider or a narrower type than
// the others.
TEST(Extents, EachOperandCountsBytesOfItsOwnType) {
  constexpr std::int64_t kLine = std::int64_t{1} << 40;
  for (const ElementType a : {ElementType::kF16, ElementType::kBf16}) {
    for (const ElementType c : {ElementType::kF32, a}) {
      for (const ElementType d : {ElementType::kF32, a}) {
        const std::array<std::int64_t Problem::*, 4> lds = {&Problem::lda, &Problem::ldb,
                                                            &Problem::ldc, &Problem::ldd};
        const std::array types = {a, a, c, d};
        for (int operand = 0; operand < 4; ++operand) {
          Problem problem{.m = 2, .n = 2, .k = 2};
          problem.types = {a, a, c, d, ComputeType::kF32};
          problem.beta = 1;
          // Lines of D count from 0, so two of them span ld + 2 elements.
          const std::int64_t most =
              std::numeric_limits<std::int64_t>::max() / size_of(types[operand]) - 2;
          problem = with_default_ld(problem);
          problem.*lds[operand] = most;
          EXPECT_TRUE(check(problem).ok()) << operand << " " << check(problem).message;
          problem.*lds[operand] = most + kLine;
          EXPECT_FALSE(check(problem).ok()) << operand;
        }
      }
    }
  }
}

}  // namespace
}  // namespace tessera
