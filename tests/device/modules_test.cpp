// Which code of an image the cuda device loads: the patched cubin, the cubin, PTX, and why not.
#include "device/cuda/modules.h"

#include <atomic>
#include <chrono>
#include <thread>

#include "base/hash.h"
#include "tests/device/cuda_device_fixture.h"

namespace tessera {
namespace {

using ModulesTest = CudaDeviceTest;
using std::chrono_literals::operator""ms;

TEST_F(ModulesTest, LoadsAnImageOnce) {
  const auto device = cuda::make_device(kFake);
  const LoadedImage first = device->load(image("good", "", ""));
  const LoadedImage again = device->load(image("good", "", ""));
  EXPECT_EQ(first.handle, again.handle);
  EXPECT_EQ(first.code.data(), again.code.data());
  EXPECT_EQ(calls().find("cuModuleLoadDataEx"), calls().rfind("cuModuleLoadDataEx"));
}

TEST_F(ModulesTest, FallsBackToPtx) {
  const auto device = cuda::make_device(kFake);
  EXPECT_EQ(device->load(image("cubin", "good ptx", "good old")).description,
            "ptx sm_90a (compiled by driver)");
  EXPECT_EQ(device->load(image("cubin", "good ptx", "good old")).code.size(),
            bytes_of("good ptx").size());
  CodeImage older = image("cubin", "text", "good old");
  older.name = "08_y";
  EXPECT_EQ(device->load(older).description, "ptx compute_75 (compiled by driver)");
}

// A cubin and the same one patched, by texts that the fake takes or refuses.
CodeImage patched_image(const char* cubin, const char* patched, std::string_view made_from) {
  CodeImage both = image(cubin, "good ptx", "");
  both.patched = {bytes_of(patched), made_from, "proved"};
  return both;
}

TEST_F(ModulesTest, PrefersAPatchedCubin) {
  const auto device = cuda::make_device(kFake);
  const std::string hash = hash_of(bytes_of("good"));
  const LoadedImage loaded = device->load(patched_image("good", "good patched", hash));
  EXPECT_EQ(loaded.description, "patched cubin sm_90a");
  EXPECT_EQ(hash_of(loaded.code), hash_of(bytes_of("good patched")));
  EXPECT_TRUE(loaded.is_patched);
  EXPECT_CONTAINS(calls(), "cuModuleLoadDataEx good patched");
  EXPECT_FALSE(contains(calls(), "cuModuleLoadDataEx good\n"));
}

TEST_F(ModulesTest, RunsTheUnpatchedCubinWhereTheHashIsAnotherOne) {
  const auto device = cuda::make_device(kFake);
  const std::string hash = hash_of(bytes_of("good old cubin"));
  const LoadedImage loaded = device->load(patched_image("good", "good patched", hash));
  EXPECT_EQ(loaded.description,
            "cubin sm_90a (patched one not used: it was made from another cubin)");
  EXPECT_EQ(hash_of(loaded.code), hash_of(bytes_of("good")));
  EXPECT_FALSE(loaded.is_patched);
  EXPECT_FALSE(contains(calls(), "good patched"));
}

// The build has compared hashes of what it packs, and a program need not.
TEST_F(ModulesTest, TakesAPatchedCubinOfAPackAsItIs) {
  const auto device = cuda::make_device(kFake);
  CodeImage both = patched_image("good", "good patched", "any");
  both.patched.is_checked = true;
  EXPECT_TRUE(device->load(both).is_patched);
}

// PTX is most of an image, and unpacked at its first use.
TEST_F(ModulesTest, ReadsNoPtxWhereACubinLoads) {
  struct Counting : CodeText::Source {
    std::string_view text(int) const override { return ++reads, "good text"; }
    mutable int reads = 0;
  } source;
  const auto device = cuda::make_device(kFake);
  CodeImage packed = image("good", "", "");
  packed.ptx = {source, 0};
  packed.portable_ptx = {source, 1};
  device->load(packed);
  EXPECT_EQ(source.reads, 0);
  packed.name = "08_y";
  packed.cubin = bytes_of("cubin");
  EXPECT_EQ(device->load(packed).description, "ptx sm_90a (compiled by driver)");
  EXPECT_GT(source.reads, 0);
}

TEST_F(ModulesTest, AnImageThatIsBeingLoadedHoldsUpNoOther) {
  struct Waiting : CodeText::Source {
    std::string_view text(int) const override {
      is_read = true;
      is_read.notify_all();
      for (int i = 0; i < 2000 && !may_end; ++i) std::this_thread::sleep_for(1ms);
      return may_end ? "good text" : "waited for ever";
    }
    mutable std::atomic<bool> is_read = false, may_end = false;
  } source;
  const auto device = cuda::make_device(kFake);
  CodeImage slow = image("refused", "", "");
  slow.name = "slow";
  slow.ptx = {source, 0};
  std::thread other([&] {
    try {
      device->load(slow);
    } catch (const StatusError& error) {
      ADD_FAILURE() << error.what();
    }
  });
  source.is_read.wait(false);
  device->entry(device->load(image("good", "", "")), "entry", {.grid = 1, .block = 32});
  source.may_end = true;
  other.join();
  EXPECT_CONTAINS(device->load(slow).description, "ptx");
}

TEST_F(ModulesTest, AnImageThatDidNotLoadIsTriedAgain) {
  const auto device = cuda::make_device(kFake);
  set("FAIL", "cuModuleLoadDataEx=2");
  EXPECT_FALSE(status_of([&] { device->load(image("good", "", "")); }).ok());
  set("FAIL", "");
  EXPECT_EQ(device->load(image("good", "", "")).description, "cubin sm_90a");
}

TEST_F(ModulesTest, RunsTheUnpatchedCubinWhereThePatchedOneDoesNotLoad) {
  const auto device = cuda::make_device(kFake);
  const std::string hash = hash_of(bytes_of("good"));
  EXPECT_CONTAINS(device->load(patched_image("good", "refused", hash)).description,
                  "cubin sm_90a (patched one not used: cuModuleLoadDataEx failed");
  CodeImage without = patched_image("good", "", hash);
  without.name = "08_y";
  EXPECT_EQ(device->load(without).description,
            "cubin sm_90a (patched one not used: the build has none)");
}

TEST_F(ModulesTest, LeavesPatchedCodeToTheGpuThatItWasMadeFor) {
  set("SM", "80");
  const auto device = cuda::make_device(kFake);
  const std::string hash = hash_of(bytes_of("good"));
  CodeImage older = patched_image("good", "good patched", hash);
  older.cubin_arch = "sm_80";
  EXPECT_EQ(device->load(older).description,
            "cubin sm_80 (patched one not used: this GPU is sm_80)");
}

TEST_F(ModulesTest, TriesOnlyWhatTheGpuCanRun) {
  set("SM", "80");
  const auto device = cuda::make_device(kFake);
  EXPECT_EQ(device->load(image("good", "good", "good old")).description,
            "ptx compute_75 (compiled by driver)");
  EXPECT_CONTAINS(calls(), "cuModuleLoadDataEx good old");
  EXPECT_FALSE(contains(calls(), "cuModuleLoadDataEx good\n"));
}

TEST_F(ModulesTest, PrefersAFurtherCubinOfTheGpuToPortablePtx) {
  set("SM", "86");
  const auto device = cuda::make_device(kFake);
  const std::string_view code = "good 80";
  const Cubin further[] = {{"sm_70", {}}, {"sm_80", std::as_bytes(std::span(code))}};
  CodeImage many = image("good", "good", "good old");
  many.further_cubins = further;
  EXPECT_EQ(device->load(many).description, "cubin sm_80");
  EXPECT_CONTAINS(calls(), "cuModuleLoadDataEx good 80");
}

TEST_F(ModulesTest, SaysWhyNoCodeLoads) {
  set("DRIVER", "12040");
  const auto device = cuda::make_device(kFake);
  const Status status = status_of([&] { device->load(image("cubin", "text", "text too")); });
  EXPECT_EQ(status.code, StatusCode::kUnavailable);
  EXPECT_CONTAINS(status.message, "image 07_x cannot be loaded by this GPU and driver (CUDA 12.4)");
  EXPECT_CONTAINS(status.message, "cubin sm_90a: cuModuleLoadDataEx failed");
  EXPECT_CONTAINS(status.message, "line 7: the fake refuses this");
  EXPECT_FALSE(contains(status.message, "\n"));
}

TEST_F(ModulesTest, ABrokenGpuIsNotAWrongImage) {
  set("FAIL", "cuModuleLoadDataEx=700");
  const auto device = cuda::make_device(kFake);
  const Status status = status_of([&] { device->load(image("good", "good", "good")); });
  EXPECT_EQ(status.code, StatusCode::kFailed);
}

TEST(Architecture, WhichCodeFitsWhichGpu) {
  EXPECT_EQ(arch_number("sm_90a"), 90);
  EXPECT_EQ(arch_number("compute_120"), 120);
  EXPECT_EQ(arch_number("none"), 0);
  EXPECT_TRUE(cubin_fits("sm_90a", 90));
  EXPECT_FALSE(cubin_fits("sm_90a", 91));
  EXPECT_TRUE(cubin_fits("sm_80", 86));
  EXPECT_FALSE(cubin_fits("sm_86", 80));
  EXPECT_FALSE(cubin_fits("sm_80", 90));
  EXPECT_TRUE(ptx_fits("compute_75", 120));
  EXPECT_FALSE(ptx_fits("compute_90a", 100));
  EXPECT_FALSE(ptx_fits("compute_80", 75));
}

}  // namespace
}  // namespace tessera
