// What a kernel takes, as its PTX declares it: offsets must be those that the executor reads.
#include "vgpu/ptx/signatures.h"

#include <gtest/gtest.h>

#include "vgpu/ptx/parser.h"

namespace tessera::vgpu::ptx {
namespace {

constexpr const char* kText = R"(
.version 9.0
.target sm_90a
.address_size 64
.visible .entry scale(
  .param .u64 .ptr .align 1 scale_param_0,
  .param .f32 scale_param_1,
  .param .align 64 .b8 scale_param_2[128],
  .param .u16 scale_param_3
)
.maxntid 256, 1, 1
{
  ret;
}
.func (.param .b32 out) helper(.param .b32 in) { ret; }
.visible .entry nothing() { ret; }
)";

TEST(Signatures, EntriesWithTheirParameters) {
  const std::vector<KernelSignature> kernels = signatures(parse(kText));
  ASSERT_EQ(kernels.size(), 2u);
  const KernelSignature& scale = kernels[0];
  EXPECT_EQ(scale.name, "scale");
  EXPECT_EQ(scale.max_threads, 256);
  ASSERT_EQ(scale.parameters.size(), 4u);
  EXPECT_EQ(scale.parameters[0].type, "u64");
  EXPECT_TRUE(scale.parameters[0].is_pointer);
  EXPECT_EQ(scale.parameters[1].name, "scale_param_1");
  EXPECT_EQ(scale.parameters[1].offset, 8u);
  EXPECT_FALSE(scale.parameters[1].is_pointer);
  EXPECT_EQ(scale.parameters[2].type, "b8");
  EXPECT_EQ(scale.parameters[2].bytes, 128u);
  EXPECT_EQ(scale.parameters[2].offset, 64u);
  EXPECT_EQ(scale.parameters[3].offset, 192u);
  EXPECT_EQ(scale.parameter_bytes, 194u);
  EXPECT_EQ(kernels[1].name, "nothing");
  EXPECT_TRUE(kernels[1].parameters.empty());
}

}  // namespace
}  // namespace tessera::vgpu::ptx
