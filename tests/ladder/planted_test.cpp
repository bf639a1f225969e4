// One-line mistakes planted in the PTX of the FP64 tensor-core kernels: each must be noticed by
// values or by the checks, and the code without it passes the same problem.
#include <gtest/gtest.h>

#include "lab/verify/verify.h"
#include "tests/support/test_device.h"

namespace tessera {
namespace {

struct Planted {
  const char* name;
  std::string_view from, to;  // every occurrence in the entry
};

constexpr Planted kPlanted[] = {
    {"TilesAreReadBeforeTheyArrive", "cp.async.wait_group 2;", "cp.async.wait_group 3;"},
    {"NobodyWaitsForTheOthers", "bar.sync \t0;", ""},
    {"TheLastCopiesOverrunTheNextTile", "cp.async.wait_all;", ""},
    {"CopiesAreInNoGroup", "cp.async.commit_group;", ""},
};

constexpr std::string_view kEntry = "dmma_f64__64x32_am_bn";

const KernelChoice& choice() {
  static const KernelChoice choice = choose_kernels("dmma_f64/64x32").front();
  return choice;
}

// The image's PTX with `planted` in the entry that multiplies, A along m and B along n.
std::string ptx_with(const Planted& planted, int& count) {
  std::string ptx(image_of(*choice().kernel, kEntry).ptx);
  const std::size_t begin = ptx.find(".entry " + std::string(kEntry) + "(");
  const std::size_t end = ptx.find("\n}\n", begin);
  std::string entry = ptx.substr(begin, end - begin);
  count = 0;
  for (std::size_t at = 0; (at = entry.find(planted.from, at)) != entry.npos; ++count) {
    entry.replace(at, planted.from.size(), planted.to);
    at += planted.to.size();
  }
  return ptx.replace(begin, end - begin, entry);
}

lab::VerifyResult verify_with(const Planted& planted) {
  int count = 0;
  Kernel kernel = *choice().kernel;
  const std::string ptx = ptx_with(planted, count);
  EXPECT_GT(count, 0) << planted.from << " is not in the code any more";
  kernel.own_images = {
      {"", CodeImage{.name = "planted", .ptx = ptx, .cubin_arch = "sm_90a", .portable_ptx = {}}}};
  const auto device = make_virtual_device({.sms = 1});
  // Several tiles a CTA, several times the depth of the ring.
  Problem problem{.m = 256, .n = 130, .k = 200, .types = kF64Types, .order = Order::kRowMajor};
  set_layout(problem, "TN");
  return lab::verify(*device, {&kernel, "64x32"}, with_default_ld(problem), {.checks = true});
}

class PlantedMistake : public testing::TestWithParam<Planted> {};

TEST_P(PlantedMistake, IsNoticed) {
  if (test_on_cuda()) GTEST_SKIP() << "broken kernels run on the virtual GPU";
  EXPECT_FALSE(verify_with(GetParam()).ok());
}

TEST(IntactKernel, Passes) {
  if (test_on_cuda()) GTEST_SKIP() << "as its neighbours";
  const lab::VerifyResult result = verify_with({"", "mma.sync", "mma.sync"});
  EXPECT_TRUE(result.ok()) << result.reason;
}

INSTANTIATE_TEST_SUITE_P(Dmma, PlantedMistake, testing::ValuesIn(kPlanted),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tessera
