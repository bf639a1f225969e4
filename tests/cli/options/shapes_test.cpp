// Suites of shapes: what a name stands for.
#include "cli/options/shapes.h"

#include <gtest/gtest.h>

namespace tessera::cli {
namespace {

TEST(Suites, Fp32IsMeasuredInAllLayouts) {
  const ProblemOptions options{.shapes = "fp32"};
  EXPECT_EQ(problems_of(options, kF32Types, {}).size(), 12u * 4);
  const auto shapes = named_shapes("fp32");
  EXPECT_EQ(shapes.front().m, 512);
  EXPECT_EQ(shapes.back().k, 5000);
}

TEST(Suites, SkinnyShapesInAllLayoutsUnlessOthersAreAsked) {
  EXPECT_EQ(problems_of({.shapes = "fp32_skinny"}, kF32Types, {}).size(), 8u * 4);
  EXPECT_EQ(problems_of({.shapes = "fp32_skinny", .layout = "NT,TN"}, kF32Types, {}).size(), 16u);
}

TEST(Suites, AFileIsMeantInOneLayout) { EXPECT_EQ(layouts_of_suite("some/file"), "NN"); }

}  // namespace
}  // namespace tessera::cli
