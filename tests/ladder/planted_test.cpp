// One-line mistakes planted in the PTX of the tensor-core kernels that copy by cp.async: each must
// be noticed by values or by the checks, and the code without it passes the same problem.
#include <gtest/gtest.h>

#include "lab/verify/verify.h"
#include "tests/support/test_device.h"

namespace tessera {
namespace {

// A kernel, the entry that multiplies with A along m and B along n, and a problem: several tiles a
// CTA, several times the depth of the ring.
struct Victim {
  const char *kernel, *variant, *entry;
  std::int64_t m, n, k;
};
constexpr Victim kDmma{"dmma_f64", "64x32", "dmma_f64__64x32_am_bn", 256, 130, 200};
// A comes by four bytes, B in pieces that are shifted.
constexpr Victim kMma{"mma_bf16", "64x64", "mma_bf16__64x64", 130, 131, 400};

struct Planted {
  const char* name;
  Victim victim;
  std::string_view from, to;  // every occurrence in the entry
};

constexpr Planted kPlanted[] = {
    {"TilesAreReadBeforeTheyArrive", kDmma, "cp.async.wait_group 2;", "cp.async.wait_group 3;"},
    {"NobodyWaitsForTheOthers", kDmma, "bar.sync \t0;", ""},
    {"CopiesAreInNoGroup", kDmma, "cp.async.commit_group;", ""},
    {"MmaTilesAreReadBeforeTheyArrive", kMma, "cp.async.wait_group 1;", "cp.async.wait_group 2;"},
    {"MmaNobodyWaitsForTheOthers", kMma, "bar.sync \t0;", ""},
    {"MmaCopiesAreInNoGroup", kMma, "cp.async.commit_group;", ""},
    {"MmaTilesAreNotTransposed", kMma, "m8n8.x4.trans", "m8n8.x4"},
    {"MmaOfAnotherType", kMma, "f32.bf16.bf16.f32", "f32.f16.f16.f32"},
    {"MmaPiecesAreShiftedTheOtherWay", kMma, "shf.r.wrap", "shf.l.wrap"},
    {"MmaHalfOfAnOutputIsStored", kMma, "st.u16", "st.u8"},
};

KernelChoice choice_of(const Victim& victim) {
  return choose_kernels(std::string(victim.kernel) + "/" + victim.variant).front();
}

// The image's PTX with `planted` in the victim's entry.
std::string ptx_with(const Planted& planted, int& count) {
  const std::string name = planted.victim.entry;
  std::string ptx(image_of(*choice_of(planted.victim).kernel, name).ptx);
  const std::size_t begin = ptx.find(".entry " + name + "(");
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
  const Victim& victim = planted.victim;
  Kernel kernel = *choice_of(victim).kernel;
  const std::string ptx = ptx_with(planted, count);
  EXPECT_GT(count, 0) << planted.from << " is not in the code any more";
  kernel.own_images = {
      {"", CodeImage{.name = "planted", .ptx = ptx, .cubin_arch = "sm_90a", .portable_ptx = {}}}};
  const auto device = make_virtual_device({.sms = 1});
  Problem problem{.m = victim.m,
                  .n = victim.n,
                  .k = victim.k,
                  .types = kernel.types,
                  .order = Order::kRowMajor};
  set_layout(problem, "TN");
  return lab::verify(*device, {&kernel, victim.variant}, with_default_ld(problem),
                     {.checks = true});
}

class PlantedMistake : public testing::TestWithParam<Planted> {};

TEST_P(PlantedMistake, IsNoticed) {
  if (test_on_cuda()) GTEST_SKIP() << "broken kernels run on the virtual GPU";
  EXPECT_FALSE(verify_with(GetParam()).ok());
}

TEST(IntactKernel, Passes) {
  if (test_on_cuda()) GTEST_SKIP() << "as its neighbours";
  for (const Victim& victim : {kDmma, kMma}) {
    const lab::VerifyResult result = verify_with({"", victim, "mma.sync", "mma.sync"});
    EXPECT_TRUE(result.ok()) << result.reason;
  }
}

INSTANTIATE_TEST_SUITE_P(TensorCores, PlantedMistake, testing::ValuesIn(kPlanted),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tessera
