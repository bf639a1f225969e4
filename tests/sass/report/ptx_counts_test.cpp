#include "sass/report/ptx_counts.h"

#include <gtest/gtest.h>

namespace tessera::sass {
namespace {

constexpr const char* kText = R"(
.version 9.0
.visible .entry first(
	.param .u64 first_param_0
)
.maxntid 32, 1, 1
{
	.reg .pred 	%p<3>;
	.loc	1 8 3, function_name $L__info_string0, inlined_at 1 4 1
	ld.param.u64 	%rd1, [first_param_0];  // ld.global.f32 in a comment
	ld.global.nc.v4.f32 	{%f1, %f2, %f3, %f4}, [%rd1];
	st.shared::cta.v2.f32 	[%r1], {%f1, %f2};
	bar.sync 	0;
$L__BB0_1:
	ld.volatile.shared.f32 	%f5, [%r1];
	fma.rn.ftz.f32 	%f6, %f5, %f5, %f6;
	@%p1 bra 	$L__BB0_3;
	{ fma.rn.f64 %fd1, %fd1, %fd1, %fd1; st.u8 [%rd1], %rs1; }
	bra.uni 	$L__BB0_2;
$L__BB0_2:
	@!%p2 bra 	$L__BB0_1;
	ret;
$L__BB0_3:
	st.local.b16 	[%r2], %rs1;
	bra.uni 	$L__BB0_2;
}
.visible .entry second()
{
	wmma.load.a.sync.aligned.row.m8n8k4.f64 	{%fd1}, [%rd1], %r1;
	wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64.rn {%fd1, %fd2}, {%fd1}, {%fd2}, {%fd1, %fd2};
	wmma.store.d.sync.aligned.row.m8n8k4.f64 	[%rd1], {%fd1, %fd2}, %r1;
	ret;
}
)";

TEST(PtxCounts, EveryKindOfAccess) {
  const std::vector<PtxKernel> kernels = count_ptx(kText);
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].name, "first");
  EXPECT_EQ(kernels[0].histogram, (Histogram{{"BAR", 1},
                                             {"DFMA", 1},
                                             {"FFMA", 1},
                                             {"LDG.128", 1},
                                             {"LDS.32", 1},
                                             {"ST.8", 1},
                                             {"STL.16", 1},
                                             {"STS.64", 1}}));
  EXPECT_EQ(kernels[1].name, "second");
  EXPECT_EQ(kernels[1].histogram, (Histogram{{"DMMA", 1}, {"LD.64", 1}, {"ST.128", 1}}));
}

TEST(PtxCounts, LoopsWithTheirBlocksOutOfLine) {
  const std::vector<PtxKernel> kernels = count_ptx(kText);
  ASSERT_EQ(kernels[0].loops.size(), 1u);
  EXPECT_EQ(kernels[0].loops[0],
            (Histogram{{"DFMA", 1}, {"FFMA", 1}, {"LDS.32", 1}, {"ST.8", 1}, {"STL.16", 1}}));
}

TEST(PtxCounts, ABranchBehindTheLastInstructionIsNoLoop) {
  const std::vector<PtxKernel> kernels = count_ptx(R"(.visible .entry ends()
{
$L__BB0_1:
	@%p1 bra 	$L__BB0_2;
	fma.rn.f32 	%f6, %f5, %f5, %f6;
	@%p2 bra 	$L__BB0_1;
	st.local.b16 	[%r2], %rs1;
$L__BB0_2:
}
)");
  ASSERT_EQ(kernels.size(), 1u);
  ASSERT_EQ(kernels[0].loops.size(), 1u);
  EXPECT_EQ(kernels[0].loops[0], (Histogram{{"FFMA", 1}}));
}

TEST(PtxCounts, DifferencesAreNamed) {
  PtxKernel ptx;
  ptx.histogram = {{"LDS.64", 2}, {"FFMA", 4}, {"BAR", 1}};
  ptx.loops = {{{"LDS.64", 2}, {"FFMA", 4}}, {{"BAR", 1}}};
  CubinKernel cubin;
  cubin.histogram = {{"LDS.64", 2}, {"FFMA", 4}, {"BAR", 2}, {"IADD3", 9}};
  cubin.loops = {{0, 64, {{"LDS.64", 2}, {"FFMA", 4}, {"IADD3", 3}}}};
  EXPECT_TRUE(differences(ptx, cubin).empty()) << "barriers and integers are not compared";

  cubin.loops[0].histogram = {{"LDS.128", 1}, {"FFMA", 4}};
  EXPECT_EQ(differences(ptx, cubin),
            (std::vector<std::string>{"in a loop, LDS.128: 0 in the PTX, 1 in the cubin",
                                      "in a loop, LDS.64: 2 in the PTX, 0 in the cubin"}));
  cubin.loops.clear();
  cubin.histogram["FFMA"] = 8;
  EXPECT_EQ(differences(ptx, cubin),
            (std::vector<std::string>{"FFMA: 4 in the PTX, 8 in the cubin",
                                      "loops: 1 in the PTX, 0 in the cubin"}));
}

TEST(PtxCounts, NoTextHasNoKernels) {
  EXPECT_TRUE(count_ptx("").empty());
  EXPECT_TRUE(count_ptx("// .entry of nothing\n;;{}").empty());
}

}  // namespace
}  // namespace tessera::sass
