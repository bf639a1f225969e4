// What the error bound adds to the sum's own errors.
#include <gtest/gtest.h>

#include "lab/verify/compare.h"

namespace tessera::lab {
namespace {

// D is rounded once more where it has fewer digits, and no more than that where it has as many.
TEST(Bound, TheBoundRoundsToTheTypeOfD) {
  Types into_f32 = kBf16Types;
  into_f32.c = into_f32.d = ElementType::kF32;
  EXPECT_EQ(bound_for(into_f32, 64, {}).out, unit_roundoff(ElementType::kF32));
  EXPECT_EQ(bound_for(kBf16Types, 64, {}).out, unit_roundoff(ElementType::kBf16));
}

// An epilogue is computed in the type of the sums.
TEST(Bound, AnEpilogueRoundsInTheTypeOfTheSums) {
  const Bound before = bound_for(kBf16Types, 64, {});
  Epilogue epilogue;
  EXPECT_EQ(bound_after(epilogue, before, kBf16Types).chain, before.chain);
  epilogue.bias = VectorKind::kPerRow;
  const double added = bound_after(epilogue, before, kBf16Types).chain - before.chain;
  EXPECT_NEAR(added, 2 * unit_roundoff(ElementType::kF32), 1e-12);
}

}  // namespace
}  // namespace tessera::lab
