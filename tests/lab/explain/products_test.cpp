// Which kernels multiply as a product of matrices does.
#include "lab/explain/advice/products.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tessera::lab {
namespace {

// Two loaded words; a loaded word and a parameter; a loaded word through a conversion; a sum.
constexpr const char* kText = R"(
.visible .entry other(
)
{
	ld.global.f32 	%f1, [%rd1];
	ld.global.f32 	%f2, [%rd1];
	fma.rn.f32 	%f3, %f1, %f2, %f3;
}
.visible .entry demo(
	.param .f32 demo_param_0
)
{
	ld.param.f32 	%f9, [demo_param_0];
	@%p1 ld.global.v2.f32 	{%f1, %f2}, [%rd1];
	ld.shared.u16 	%rs1, [%r1];
	cvt.f32.f16 	%f3, %rs1;
	mov.f32 	%f4, %f3;
	fma.rn.f32 	%f5, %f2, %f4, %f5;
	fma.rn.f32 	%f6, %f9, %f1, %f6;
	add.f32 	%f7, %f1, %f2;
	fma.rn.f32 	%f8, %f7, %f1, %f8;
}
)";

TEST(Products, AreOfTwoLoadedWords) {
  const std::string_view text = kText;
  const auto end = text.begin() + text.find("fma.rn.f32 \t%f5");
  const int line = static_cast<int>(std::count(text.begin(), end, '\n')) + 1;
  EXPECT_EQ(product_lines(kText, "demo"), std::set<int>{line});
  EXPECT_EQ(product_lines(kText, "other").size(), 1u);
  EXPECT_TRUE(product_lines(kText, "none").empty());
}

LaunchCounts counts_of(std::uint64_t products, std::uint64_t others, std::uint64_t sectors) {
  LaunchCounts counts;
  counts.instructions.resize(2);
  counts.instructions[0].form = "fma.rn.f32";
  counts.instructions[0].ptx_line = *product_lines(kText, "demo").begin();
  counts.instructions[0].warp = products;
  counts.instructions[0].thread = 32 * products;
  counts.instructions[1].form = "add.s32";
  counts.instructions[1].warp = others;
  counts.warp_instructions = products + others;
  counts.memory.footprint.read_sectors = sectors;
  return counts;
}

TEST(Products, OfMatricesUseAWordMoreThanOnce) {
  EXPECT_TRUE(multiplies(counts_of(1000, 9000, 2000), kText, "demo"));
  EXPECT_FALSE(multiplies(counts_of(1000, 9000, 8000), kText, "demo")) << "two words a product";
  EXPECT_FALSE(multiplies(counts_of(1000, 99000, 2000), kText, "demo")) << "mostly other work";
  LaunchCounts matrix = counts_of(0, 1000, 8000);
  matrix.instructions[1].form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32";
  EXPECT_TRUE(multiplies(matrix, kText, "demo"));
}

}  // namespace
}  // namespace tessera::lab
