// Chains of products: each is checked, then the whole chain is timed in turn with the vendor's.
#include "lab/bench/chain.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "lab/verify/stop.h"
#include "tests/lab/timing/fake_device.h"
#include "tests/lab/timing/fake_vendor.h"

namespace tessera::lab {
namespace {

ChainOptions quick_chain(int length) {
  ChainOptions options;
  options.length = length;
  options.idle_ms = 0;
  return options;
}

TEST(Chain, EveryProductFeedsTheNext) {
  for (Order order : {Order::kColumnMajor, Order::kRowMajor}) {
    for (const char* layout : {"NN", "TN"}) {
      FakeDevice device;
      const Kernel kernel = fake_kernel(kF64Types);
      Problem problem{40, 40, 40, kF64Types, order};
      set_layout(problem, layout);
      const ChainResult result = run_chain(device, {&kernel, "only"}, problem, quick_chain(5));
      EXPECT_TRUE(result.correct) << result.reason;
      EXPECT_GT(result.max_error_ratio, 0);
      EXPECT_EQ(device.launches, 5);
      EXPECT_EQ(result.host_seconds, 5 * 0.25);
      EXPECT_FALSE(result.own_ms);
    }
  }
}

TEST(Chain, AWrongProductIsNamedAndNotTimed) {
  FakeDevice device(DeviceKind::kCuda, Bug::kDropsLastK);
  const Kernel kernel = fake_kernel(kF64Types);
  const ChainResult result =
      run_chain(device, {&kernel, "only"}, {40, 40, 40, kF64Types}, quick_chain(5));
  EXPECT_FALSE(result.correct);
  EXPECT_EQ(result.reason.rfind("product 1: D(", 0), 0u) << result.reason;
  EXPECT_FALSE(result.own_ms);
}

TEST(Chain, TimesTheWholeChainInTurnWithTheVendor) {
  FakeDevice device(DeviceKind::kCuda);
  const Kernel kernel = fake_kernel(kF32Types);
  FakeVendor vendor(device, {0.01, 3, 2});  // the first works in place and does not add C
  ChainOptions options = quick_chain(7);
  options.vendor = &vendor;
  const ChainResult result = run_chain(device, {&kernel, "only"}, {40, 40, 40}, options);
  ASSERT_TRUE(result.correct) << result.reason;
  EXPECT_DOUBLE_EQ(result.own_ms->median, 7);
  EXPECT_DOUBLE_EQ(result.vendor_ms->median, 14);
  EXPECT_EQ(result.vendor, "candidate 2");
  EXPECT_EQ(to_json(result)["vendor_ms"]["median"], 14);
}

// Each product takes an X that has grown by B, and both sides of the comparison pay for it.
TEST(Chain, AddsBeforeItMultiplies) {
  FakeDevice device(DeviceKind::kCuda);
  const Kernel kernel = fake_kernel(kF64Types);
  FakeVendor vendor(device, {4, 3, 2});
  ChainOptions options = quick_chain(7);
  options.add_before = true;
  options.vendor = &vendor;
  const ChainResult result = run_chain(device, {&kernel, "only"}, {40, 40, 40, kF64Types}, options);
  ASSERT_TRUE(result.correct) << result.reason;
  EXPECT_DOUBLE_EQ(result.own_ms->median, 7 * (1 + 1));
  EXPECT_DOUBLE_EQ(result.vendor_ms->median, 7 * (1 + 2));
  EXPECT_EQ(result.vendor, "candidate 2");
  const Json json = to_json(result);
  EXPECT_EQ(json["add_before"], true);
  EXPECT_EQ(json["problem"]["beta"], 0);
}

TEST(Chain, AnAdditionThatIsMissingOrWrongIsFound) {
  FakeDevice device;
  device.adds_twice = true;
  const Kernel kernel = fake_kernel(kF64Types);
  ChainOptions options = quick_chain(3);
  options.add_before = true;
  const ChainResult result = run_chain(device, {&kernel, "only"}, {40, 40, 40, kF64Types}, options);
  EXPECT_FALSE(result.correct);
  EXPECT_EQ(result.reason, "addition 1: X is not X + B");
}

TEST(Chain, AddsInFp64Alone) {
  FakeDevice device;
  const Kernel kernel = fake_kernel(kF32Types);
  ChainOptions options = quick_chain(3);
  options.add_before = true;
  EXPECT_THROW(run_chain(device, {&kernel, "only"}, {40, 40, 40}, options), StatusError);
}

// After 100 additions X is 100 times as large; the products stay far inside the range.
TEST(Chain, TheLongestThatAddsStaysFinite) {
  FakeDevice device;
  const Kernel kernel = fake_kernel(kF64Types);
  ChainOptions options = quick_chain(kLongestAddingChain);
  options.add_before = true;
  const ChainResult result = run_chain(device, {&kernel, "only"}, {8, 8, 8, kF64Types}, options);
  EXPECT_TRUE(result.correct) << result.reason;
  options.length += 1;
  EXPECT_THROW(run_chain(device, {&kernel, "only"}, {8, 8, 8, kF64Types}, options), StatusError);
}

TEST(Chain, StopsBetweenProducts) {
  FakeDevice device;
  const Kernel kernel = fake_kernel(kF32Types);
  ChainOptions options = quick_chain(9);
  options.stop = [&] { return device.launches == 4; };
  EXPECT_THROW(run_chain(device, {&kernel, "only"}, {40, 40, 40}, options), Stopped);
  EXPECT_EQ(device.launches, 4);
  EXPECT_EQ(device.live_blocks(), 0u);
}

TEST(Chain, WantsSquareMatrices) {
  FakeDevice device;
  const Kernel kernel = fake_kernel(kF32Types);
  EXPECT_THROW(run_chain(device, {&kernel, "only"}, {40, 41, 40}, quick_chain(2)), StatusError);
}

}  // namespace
}  // namespace tessera::lab
