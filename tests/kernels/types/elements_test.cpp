// Types of tensor cores and of problems: each row once, and of the same size.
#include "kernels/types/multiplied.h"

#include <gtest/gtest.h>

#include <set>

namespace tessera::types {
namespace {

TEST(Elements, EachRowIsFoundByBothTypes) {
  std::set<ElementType> elements;
  for (const MultipliedRow& row : kMultiplied) {
    EXPECT_EQ(find_multiplied(row.type), &row);
    EXPECT_EQ(find_multiplied(row.element), &row);
    EXPECT_TRUE(elements.insert(row.element).second);
    EXPECT_EQ(8 * size_of(row.element), ptx::bits_of(row.type));
  }
  EXPECT_EQ(find_multiplied(ElementType::kF64), nullptr);
  EXPECT_EQ(find_multiplied(ElementType::kMadeUp), nullptr);
}

TEST(Elements, FloatsAreRoundedByTheirTensorMap) {
  EXPECT_EQ(find_multiplied(ElementType::kF32)->tensor, TensorType::kTf32);
  EXPECT_FALSE(find_multiplied(ElementType::kF32)->is_taken_across_k);
}

}  // namespace
}  // namespace tessera::types
