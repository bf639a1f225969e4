// Which images are unpacked ahead of calls, and that the thread comes and goes.
#include "gemm/call/images_ahead.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <thread>

#include "catalog/catalog.h"
#include "catalog/image_pack.h"

namespace tessera::gemm {
namespace {

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

TEST(ImagesFor, AreThoseOfATypeThatTheGpuRuns) {
  const std::vector<std::string> hopper = images_for(kBf16Types, 90);
  EXPECT_TRUE(has(hopper, "wgmma_bf16__128x256x64_s4_coop")) << hopper.front();
  EXPECT_TRUE(has(hopper, "simt_bf16_sm75__64x64"));
  EXPECT_LT(std::ranges::find(hopper, "wgmma_bf16__128x256x64_s4_coop"),
            std::ranges::find(hopper, "simt_bf16_sm75__64x64"))
      << "kernels made for this GPU come first";
  EXPECT_FALSE(has(images_for(kBf16Types, 80), "wgmma_bf16__128x256x64_s4_coop"));
  EXPECT_FALSE(has(hopper, "simt_f32__128x64"));
  for (const std::string& name : hopper) {
    EXPECT_FALSE(name[0] >= '0' && name[0] <= '9') << name << " is a rung's";
    EXPECT_EQ(std::ranges::count(hopper, name), 1) << name;
    EXPECT_TRUE(std::ranges::count(own_images().names(), name)) << name;
  }
}

// Older kernels run on this GPU, too, but few plans take them.
TEST(ImagesFor, BeginWithKernelsMadeForTheGpu) {
  std::map<std::string, int> first_sm;
  for (const Kernel& kernel : all_kernels()) {
    for (const std::string& name : image_names_of(kernel)) first_sm[name] = kernel.first_sm;
  }
  for (const Types& types : {kF32Types, kTf32Types, kF16Types, kBf16Types, kF64Types}) {
    int last = 999;
    for (const std::string& name : images_for(types, 90)) {
      EXPECT_LE(first_sm.at(name), last) << name;
      last = first_sm.at(name);
    }
  }
}

TEST(ImagesAhead, UnpacksEachTypeOnceAndInOrder) {
  std::vector<std::string> unpacked;
  ImagesAhead ahead([&](const std::string& name) { unpacked.push_back(name); });
  for (int i = 0; i < 3; ++i) {
    ahead.expect(kBf16Types, 90);
    ahead.wait();
    EXPECT_EQ(unpacked, images_for(kBf16Types, 90));
  }
  ahead.expect(kF64Types, 90);  // by a second thread
  ahead.wait();
  EXPECT_EQ(unpacked.size(), images_for(kBf16Types, 90).size() + images_for(kF64Types, 90).size());
}

TEST(ImagesAhead, AnImageThatCannotBeUnpackedIsLeftToItsCall) {
  std::atomic<int> tried = 0;
  ImagesAhead ahead([&](const std::string&) {
    ++tried;
    throw StatusError(Status::unavailable("damaged"));
  });
  ahead.expect(kBf16Types, 90);
  ahead.wait();
  EXPECT_EQ(static_cast<std::size_t>(tried), images_for(kBf16Types, 90).size());
}

// After a fork the parent goes on where it was; the child does nothing more.
TEST(ImagesAhead, HasNoThreadAtAFork) {
  std::atomic<std::size_t> unpacked = 0;
  std::atomic<bool> may_go_on = false;
  ImagesAhead ahead([&](const std::string&) {
    ++unpacked;
    unpacked.notify_all();
    may_go_on.wait(false);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));  // or all are done before the fork
  });
  ahead.expect(kBf16Types, 90);
  unpacked.wait(0);
  std::thread release([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    may_go_on = true;
    may_go_on.notify_all();
  });
  ahead.before_fork();
  const std::size_t before = unpacked;
  release.join();
  EXPECT_LT(before, images_for(kBf16Types, 90).size());
  EXPECT_EQ(unpacked, before);
  ahead.after_fork(false);
  ahead.wait();
  EXPECT_EQ(unpacked, images_for(kBf16Types, 90).size());
  ahead.before_fork();
  ahead.after_fork(true);
  ahead.expect(kF64Types, 90);
  ahead.wait();
  EXPECT_EQ(unpacked, images_for(kBf16Types, 90).size());
}

// What is queued when a program ends stays packed.
TEST(ImagesAhead, EndsWithOneImage) {
  std::atomic<std::size_t> unpacked = 0;
  {
    ImagesAhead ahead([&](const std::string&) {
      ++unpacked;
      unpacked.notify_all();
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    });
    ahead.expect(kBf16Types, 90);
    unpacked.wait(0);
  }
  EXPECT_LE(unpacked, 2u);
}

}  // namespace
}  // namespace tessera::gemm
