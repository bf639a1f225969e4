// Kernels of others on the virtual device: grids and blocks of three dimensions, what a kernel
// takes, and a fault that says where it happened.
#include <gtest/gtest.h>

#include <cstring>

#include "device/device.h"
#include "device/virtual/virtual_device.h"

namespace tessera {
namespace {

// store(out): out[linear CTA * threads + linear thread] = z of the CTA * 256 + z of the thread.
constexpr std::string_view kStore = R"(
.version 9.0
.target sm_90a
.address_size 64
.file 1 "store.cu"
.visible .entry store(.param .u64 .ptr .align 1 out)
{
  .reg .b32 %r<16>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %ctaid.z;
  mov.u32 %r2, %nctaid.y;
  mov.u32 %r3, %ctaid.y;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  mov.u32 %r5, %nctaid.x;
  mov.u32 %r6, %ctaid.x;
  mad.lo.u32 %r4, %r4, %r5, %r6;
  mov.u32 %r7, %ntid.x;
  mov.u32 %r8, %ntid.z;
  mul.lo.u32 %r9, %r7, %r8;
  mov.u32 %r10, %tid.z;
  mov.u32 %r11, %tid.x;
  mad.lo.u32 %r12, %r10, %r7, %r11;
  mad.lo.u32 %r12, %r4, %r9, %r12;
  mul.wide.u32 %rd2, %r12, 4;
  add.s64 %rd3, %rd1, %rd2;
  shl.b32 %r13, %r1, 8;
  add.u32 %r13, %r13, %r10;
  .loc 1 7 3
  st.global.u32 [%rd3], %r13;
  ret;
}
)";

CodeImage image_of(std::string_view ptx) {
  CodeImage image;
  image.name = "store";
  image.ptx = ptx;
  return image;
}

Launch launch_with(DeviceAddress out) {
  Launch launch;
  launch.entry = "store";
  launch.shape = {.grid = 2, .block = 4, .grid_y = 3, .grid_z = 2, .block_z = 3};
  launch.params.resize(sizeof out);
  std::memcpy(launch.params.data(), &out, sizeof out);
  return launch;
}

constexpr int kCtas = 2 * 3 * 2, kThreads = 4 * 3;

TEST(VirtualDevice, GridsAndBlocksHaveThreeDimensions) {
  const auto device = make_virtual_device();
  const LoadedImage image = device->load(image_of(kStore));
  std::vector<std::uint32_t> seen(kCtas * kThreads);
  const std::size_t bytes = seen.size() * sizeof seen[0];
  const DeviceAddress out = device->allocate(bytes);
  device->launch(image, launch_with(out));
  device->copy_out(seen.data(), out, bytes);
  for (std::uint32_t i = 0; i < seen.size(); ++i) {
    EXPECT_EQ(seen[i], i / (6 * kThreads) * 256 + i % kThreads / 4) << i;
  }
}

TEST(VirtualDevice, ALoadedImageHasItsPtx) {
  const auto device = make_virtual_device();
  const LoadedImage image = device->load(image_of(kStore));
  EXPECT_EQ(image.code.data(), reinterpret_cast<const std::byte*>(kStore.data()));
  EXPECT_EQ(image.code.size(), kStore.size());
  EXPECT_EQ(device->load(image_of(kStore)).code.data(), image.code.data());
}

TEST(VirtualDevice, KernelsOfAnImage) {
  const auto device = make_virtual_device();
  const auto kernels = device->kernels(device->load(image_of(kStore)));
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].name, "store");
  ASSERT_EQ(kernels[0].parameters.size(), 1u);
  EXPECT_EQ(kernels[0].parameters[0].name, "out");
}

// copy(params): the first word of the tensor map at byte 64 of the block goes to its address at 0.
constexpr std::string_view kCopy = R"(
.version 9.0
.target sm_90a
.address_size 64
.visible .entry copy(.param .align 64 .b8 block[192])
{
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [block];
  ld.param.u64 %rd2, [block+64];
  st.global.u64 [%rd1], %rd2;
  ret;
}
)";

TEST(VirtualDevice, WritesTensorMapsIntoTheParameters) {
  const auto device = make_virtual_device();
  CodeImage image = image_of(kCopy);
  image.name = "copy";
  const DeviceAddress out = device->allocate(8);
  Launch launch{
      .entry = "copy", .shape = {.starts_early = true}, .params = std::vector<std::byte>(192)};
  std::memcpy(launch.params.data(), &out, sizeof out);
  TensorMapDesc desc{.address = out};
  desc.sizes = {64, 64};
  desc.strides = {256};
  desc.box = {32, 8};
  launch.tensor_maps = {{64, desc}};
  device->launch(device->load(image), launch);
  std::uint64_t seen = 0;
  device->copy_out(&seen, out, 8);
  EXPECT_EQ(std::memcmp(&seen, device->encode_tensor_map(desc).bytes.data(), 8), 0);
  EXPECT_NE(seen, 0u);

  launch.tensor_maps[0].offset = 72;
  EXPECT_THROW(device->launch(device->load(image), launch), StatusError);
}

// Moving an encoded map is encoding it at the other address.
TEST(VirtualDevice, ATensorMapIsMovedToAnotherAddress) {
  const auto device = make_virtual_device();
  TensorMapDesc desc{.address = 4096};
  desc.sizes = {64, 48};
  desc.strides = {256};
  desc.box = {32, 8};
  TensorMapBytes moved = device->encode_tensor_map(desc);
  device->replace_address(moved.bytes, 0x123450);
  EXPECT_NE(moved.bytes, device->encode_tensor_map(desc).bytes);
  desc.address = 0x123450;
  EXPECT_EQ(moved.bytes, device->encode_tensor_map(desc).bytes);
}

TEST(VirtualDevice, AFaultSaysWhereItHappened) {
  const auto device = make_virtual_device();
  const LoadedImage image = device->load(image_of(kStore));
  const DeviceAddress out = device->allocate(4 * (kCtas * kThreads - 1));
  try {
    device->launch(image, launch_with(out));
    FAIL() << "the last thread's store was not noticed";
  } catch (const LaunchFault& fault) {
    EXPECT_EQ(fault.status().code, StatusCode::kFailed);
    EXPECT_EQ(fault.finding().check, "out-of-bounds");
    ASSERT_EQ(fault.finding().places.size(), 1u);
    const vgpu::FindingPlace& place = fault.finding().places[0];
    EXPECT_EQ(place.source_file, "store.cu");
    EXPECT_EQ(place.source_line, 7);
    EXPECT_EQ(place.form, "st.global.u32");
    EXPECT_EQ(place.cta, kCtas - 1u);
    EXPECT_EQ(place.warp, 0);
    EXPECT_EQ(place.lane, kThreads - 1);
  }
}

TEST(VirtualDevice, AShapeOutOfRangeIsNoFault) {
  const auto device = make_virtual_device();
  const LoadedImage image = device->load(image_of(kStore));
  Launch launch = launch_with(device->allocate(4096));
  launch.shape.grid_y = -1;
  try {
    device->launch(image, launch);
    FAIL() << "a grid of -1 rows ran";
  } catch (const LaunchFault&) {
    FAIL() << "the kernel did nothing wrong";
  } catch (const StatusError&) {
  }
}

}  // namespace
}  // namespace tessera
