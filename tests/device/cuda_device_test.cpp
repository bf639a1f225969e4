// The cuda device against a stand-in driver: what it calls, in which order, and what it says when a
// call fails.
#include "device/cuda/cuda_device.h"

#include "device/virtual/observer.h"
#include "tests/device/cuda_device_fixture.h"

namespace tessera {
namespace {

TEST_F(CudaDeviceTest, TheOldestDriverThatKnowsHopperIsTaken) {
  set("DRIVER", "12000");
  EXPECT_NO_THROW(cuda::make_device(kFake));
  set("DRIVER", "11080");
  EXPECT_CONTAINS(status_of([] { cuda::make_device(kFake); }).message, "at least CUDA 12.0");
}

TEST_F(CudaDeviceTest, ReadsWhatTheGpuIs) {
  const auto device = cuda::make_device(kFake);
  EXPECT_EQ(device->info().kind, DeviceKind::kCuda);
  EXPECT_EQ(device->info().name, "Fake GPU");
  EXPECT_EQ(device->info().sm, 90);
  EXPECT_EQ(device->info().sms, 132);
  EXPECT_EQ(device->info().memory_bytes, 1000000);
  EXPECT_EQ(device->info().l2_bytes, 52428800);
  EXPECT_EQ(device->info().clock_khz, 1980000);
  EXPECT_FALSE(device->info().driver.empty());
  EXPECT_NE(device->native_stream(), nullptr);
  EXPECT_EQ(device->info().index, 0);
  EXPECT_EQ(device->info().pci_bus_id, "0000:10:00.0");
  EXPECT_EQ(observer_of(*device), nullptr);
  EXPECT_TRUE(take_counts(*device).empty());
}

TEST_F(CudaDeviceTest, GivesBackWhatItTook) {
  cuda::make_device(kFake)->record_mark();
  const std::string log = calls();
  EXPECT_LT(log.find("cuInit"), log.find("cuDeviceGetCount"));
  EXPECT_LT(log.find("cuDevicePrimaryCtxRetain"), log.find("cuCtxSetCurrent"));
  EXPECT_LT(log.find("cuCtxSetCurrent"), log.find("cuStreamCreate"));
  EXPECT_LT(log.find("cuEventDestroy_v2"), log.find("cuStreamDestroy_v2"));
  EXPECT_LT(log.find("cuStreamDestroy_v2"), log.find("cuDevicePrimaryCtxRelease_v2"));
}

TEST_F(CudaDeviceTest, ReleasesTheContextWhenALaterStepFails) {
  failing_with("cuStreamCreate=999");
  EXPECT_CONTAINS(calls(), "cuDevicePrimaryCtxRelease_v2");
}

TEST_F(CudaDeviceTest, CopiesBytesThere) {
  const auto device = cuda::make_device(kFake);
  const DeviceAddress address = device->allocate(8);
  std::uint64_t in = 0x0123456789abcdef, out = 0;
  device->copy_in(address, &in, 8);
  device->copy_out(&out, address, 8);
  EXPECT_EQ(out, in);
  EXPECT_EQ(allocated(), 8u);
  device->free(address);
  EXPECT_EQ(allocated(), 0u);
}

TEST_F(CudaDeviceTest, NothingIsCalledForNoBytes) {
  const auto device = cuda::make_device(kFake);
  EXPECT_EQ(device->allocate(0), 0u);
  device->free(0);
  device->copy_in(0, nullptr, 0);
  device->copy_out(nullptr, 0, 0);
  EXPECT_FALSE(contains(calls(), "cuMem"));
}

TEST_F(CudaDeviceTest, SaysHowMuchMemoryIsMissing) {
  set("MEMORY", "5000");
  const auto device = cuda::make_device(kFake);
  device->allocate(1000);
  const Status status = status_of([&] { device->allocate(4001); });
  EXPECT_EQ(status.code, StatusCode::kUnavailable);
  EXPECT_CONTAINS(status.message, "4001 bytes asked, 4000 of 5000 bytes free on Fake GPU");
}

TEST_F(CudaDeviceTest, LaunchesWithOneParameterBlock) {
  const auto device = cuda::make_device(kFake);
  const LoadedImage loaded = device->load(image("good", "", ""));
  EXPECT_EQ(loaded.description, "cubin sm_90a");
  Launch launch{"entry", {2147483647, 32, 8}, {std::byte{0x01}, std::byte{0xfe}}};
  device->launch(loaded, launch);
  EXPECT_CONTAINS(calls(), "cuLaunchKernel entry 2147483647x1x1 32x8x1 0 01fe\n");
  EXPECT_FALSE(contains(calls(), "cuFuncSetAttribute"));
}

// The driver alone knows where a parameter of a large alignment stands.
TEST_F(CudaDeviceTest, LeavesThePlacesOfSeveralParametersToTheDriver) {
  const auto device = cuda::make_device(kFake);
  const LoadedImage loaded = device->load(image("good", "", ""));
  Launch launch{.entry = "entry", .params = std::vector<std::byte>(192), .param_offsets = {0, 128}};
  launch.params[0] = std::byte{0x0a};
  launch.params[128] = std::byte{0xbc};
  device->launch(loaded, launch);
  EXPECT_CONTAINS(calls(), "cuLaunchKernel entry 1x1x1 32x1x1 0 list 0a bc\n");
  launch.shape.cluster[0] = 2;
  launch.shape.cluster[1] = launch.shape.cluster[2] = 1;
  device->launch(loaded, launch);
  EXPECT_CONTAINS(calls(), "4=2x1x1 list 0a bc\n");
}

TEST_F(CudaDeviceTest, WritesTensorMapsIntoTheParameters) {
  const auto device = cuda::make_device(kFake);
  const LoadedImage loaded = device->load(image("good", "", ""));
  Launch launch{.entry = "entry", .params = std::vector<std::byte>(200)};
  TensorMapDesc desc{.address = 4096};
  desc.sizes = {64, 64};
  desc.strides = {256};
  desc.box = {32, 8};
  launch.tensor_maps = {{64, desc}};
  device->launch(loaded, launch);
  std::string bytes = std::string(128, '0');
  for (int i = 0; i < 128; ++i) bytes += "5a";
  EXPECT_CONTAINS(calls(), "cuLaunchKernel entry 1x1x1 32x1x1 0 " + bytes + std::string(16, '0'));
  EXPECT_EQ(launch.params[64], std::byte{0}) << "a plan stays as it is";
  for (const std::size_t offset : {32, 128}) {
    launch.tensor_maps[0].offset = offset;
    const Status status = status_of([&] { device->launch(loaded, launch); });
    EXPECT_CONTAINS(status.message, "begins at byte " + std::to_string(offset) + " of 200");
  }
}

TEST_F(CudaDeviceTest, TheDriverMovesATensorMap) {
  const auto device = cuda::make_device(kFake);
  TensorMapBytes map;
  device->replace_address(map.bytes, 0x123450);
  std::uint64_t address = 0;  // where the stand-in leaves it
  std::memcpy(&address, map.bytes.data(), sizeof address);
  EXPECT_EQ(address, 0x123450u);
  set("FAIL", "cuTensorMapReplaceAddress=1");
  const Status status = status_of([&] { device->replace_address(map.bytes, 0); });
  EXPECT_CONTAINS(status.message, "cuTensorMapReplaceAddress failed");
}

// An entry is found once; its launches ask the driver for nothing else.
TEST_F(CudaDeviceTest, AnEntryIsLaunchedManyTimes) {
  const auto device = cuda::make_device(kFake);
  const LoadedImage loaded = device->load(image("good", "", ""));
  const LaunchShape shape{.grid = 3, .block = 64, .shared_bytes = 100000};
  const LoadedEntry entry = device->entry(loaded, "entry", shape);
  reinterpret_cast<void (*)()>(dlsym(fake_, "fake_cuda_clear"))();
  const std::byte params[2] = {std::byte{0x0a}, std::byte{0xbc}};
  device->launch(entry, shape, params, {}, nullptr);
  device->launch(entry, shape, params, {}, nullptr);
  const std::string one = "cuLaunchKernel entry 3x1x1 64x1x1 100000 0abc\n";
  EXPECT_EQ(calls(), one + one);
}

TEST_F(CudaDeviceTest, LaunchesThatStartEarlySaySo) {
  const auto device = cuda::make_device(kFake);
  const LoadedImage loaded = device->load(image("good", "", ""));
  Launch launch{.entry = "entry", .shape = {.grid = 4, .starts_early = true}, .params = {}};
  device->launch(loaded, launch);
  EXPECT_CONTAINS(calls(), "cuLaunchKernelEx entry 4x1x1 32x1x1 0 6=1x0x0 -");
  std::fill_n(launch.shape.cluster, 3, 1);
  launch.shape.cluster[0] = 2;
  device->launch(loaded, launch);
  EXPECT_CONTAINS(calls(), "cuLaunchKernelEx entry 4x1x1 32x1x1 0 4=2x1x1 6=1x0x0 -");
}

TEST_F(CudaDeviceTest, AsksForLargeSharedMemoryOnce) {
  const auto device = cuda::make_device(kFake);
  const LoadedImage loaded = device->load(image("good", "", ""));
  for (const int bytes : {100000, 50000, 100000, 200000}) {
    device->launch(loaded, {"entry", {.shared_bytes = bytes}, {}});
  }
  const std::string log = calls();
  EXPECT_CONTAINS(log, "cuFuncSetAttribute 8=100000\ncuLaunchKernel entry 1x1x1 32x1x1 100000 -");
  EXPECT_CONTAINS(log, "cuFuncSetAttribute 8=200000\ncuLaunchKernel entry 1x1x1 32x1x1 200000 -");
  EXPECT_FALSE(contains(log, "8=50000"));
  EXPECT_EQ(log.find("8=100000"), log.rfind("8=100000"));
}

// HW: a cluster of more than 8 blocks is not portable, and is asked for.
TEST_F(CudaDeviceTest, AsksForClustersThatAreNotPortable) {
  const auto device = cuda::make_device(kFake);
  const LoadedImage loaded = device->load(image("good", "", ""));
  for (int x = 1; x <= 16; ++x) {
    for (int y = 1; x * y <= 16; ++y) {
      for (int z = 1; x * y * z <= 16; ++z) {
        fake<void()>("fake_cuda_clear")();
        LaunchShape shape;
        shape.cluster[0] = x, shape.cluster[1] = y, shape.cluster[2] = z;
        device->entry(loaded, "entry", shape);
        EXPECT_EQ(contains(calls(), "cuFuncSetAttribute"), x * y * z > 8) << x << y << z;
      }
    }
  }
}

TEST_F(CudaDeviceTest, RefusesALaunchThatCannotBe) {
  const auto device = cuda::make_device(kFake);
  const LoadedImage loaded = device->load(image("good", "", ""));
  const auto refused = [&](const LoadedImage& from, const Launch& launch, const char* why) {
    const Status status = status_of([&] { device->launch(from, launch); });
    EXPECT_EQ(status.code, StatusCode::kBadArgument);
    EXPECT_CONTAINS(status.message, why);
  };
  refused(loaded, {"entry", {2147483648}, {}}, "2147483648 blocks");
  refused(loaded, {"entry", {0}, {}}, "0 blocks");
  refused(loaded, {"missing", {1}, {}}, "entry missing is not in the image");
  refused({}, {"entry", {1}, {}}, "image handle 0");
  EXPECT_FALSE(contains(calls(), "cuLaunchKernel"));
}

TEST_F(CudaDeviceTest, MeasuresBetweenMarks) {
  const auto device = cuda::make_device(kFake);
  const auto begin = device->record_mark();
  const auto middle = device->record_mark();
  const auto end = device->record_mark();
  EXPECT_FLOAT_EQ(*device->milliseconds_between(begin, end), 3.0f);
  EXPECT_FLOAT_EQ(*device->milliseconds_between(middle, end), 1.5f);
  EXPECT_THROW(device->milliseconds_between(begin, end + 1), StatusError);
}

TEST_F(CudaDeviceTest, ForgetsOldMarks) {
  const auto device = cuda::make_device(kFake);
  const auto old = device->record_mark();
  std::uint64_t latest = old;
  for (int i = 0; i < 4096; ++i) latest = device->record_mark();
  EXPECT_THROW(device->milliseconds_between(old, latest), StatusError);
  EXPECT_FLOAT_EQ(*device->milliseconds_between(latest - 1, latest), 1.5f);
}

TEST_F(CudaDeviceTest, AFaultOfAKernelIsAFailure) {
  const auto device = cuda::make_device(kFake);
  set("FAIL", "cuStreamSynchronize=700");
  const Status status = status_of([&] { device->synchronize(); });
  EXPECT_EQ(status.code, StatusCode::kFailed);
  EXPECT_CONTAINS(status.message, "cuStreamSynchronize failed");
  EXPECT_CONTAINS(status.message, "a kernel has failed");
}

TEST_F(CudaDeviceTest, SaysWhatIsMissing) {
  const Status none = status_of([] { cuda::make_device("libno_such_driver.so.1"); });
  EXPECT_EQ(none.code, StatusCode::kUnavailable);
  EXPECT_CONTAINS(none.message, "libno_such_driver.so.1");
  const Status no_calls = status_of([] { cuda::make_device("libm.so.6"); });
  EXPECT_CONTAINS(no_calls.message, "does not export cuInit, and CUDA 12 or later is needed");

  set("DRIVER", "11080");
  const Status old = status_of([] { cuda::make_device(kFake); });
  EXPECT_EQ(old.code, StatusCode::kUnavailable);
  EXPECT_CONTAINS(old.message, "supports CUDA 11.8, and at least CUDA 12.0 is needed");
  clear("DRIVER");

  const Status no_gpu = failing_with("cuInit=100");
  EXPECT_EQ(no_gpu.code, StatusCode::kUnavailable);
  EXPECT_CONTAINS(no_gpu.message, "cuInit failed");
  EXPECT_CONTAINS(no_gpu.message, "nvidia-smi");
  clear("FAIL");
  set("COUNT", "0");
  EXPECT_CONTAINS(status_of([] { cuda::make_device(kFake); }).message, "cuDeviceGetCount failed");
  clear("COUNT");
  EXPECT_CONTAINS(failing_with("cuStreamCreate=9999").message,
                  "cuStreamCreate failed: an unknown error (error 9999: no description)");
}

}  // namespace
}  // namespace tessera
