#include "lab/bench/bench.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "base/hash.h"
#include "lab/bench/timed_bench.h"
#include "tests/lab/timing/fake_device.h"
#include "tests/lab/timing/fake_vendor.h"

namespace tessera::lab {
namespace {

BenchOptions quick_options() {
  BenchOptions options;
  options.measure.idle_ms = 0;
  options.measure.rounds = 2;
  return options;
}

const Problem kProblem{64, 48, 32};

// The code that the fake device loads is the name of its image.
std::string hash_of_code(std::string_view name) { return hash_of(std::as_bytes(std::span(name))); }

TEST(Bench, OnTheVirtualGpuThereAreCountsAndNoTimes) {
  FakeDevice device;
  const Kernel kernel = fake_kernel(kF32Types);
  const auto records = bench(device, {{&kernel, "only"}}, kProblem, quick_options());
  ASSERT_EQ(records.size(), 1u);
  const Record& r = records[0];
  EXPECT_EQ(r.verified, "full");
  EXPECT_FALSE(r.mode);
  EXPECT_FALSE(r.time_ms);
  EXPECT_FALSE(r.tflops);
  EXPECT_FALSE(r.ratio_to_vendor);
  ASSERT_TRUE(r.counts);
  EXPECT_EQ(r.counts->fma.thread, 64u * 48u * 32u);
  EXPECT_EQ(*r.host_seconds, 0.25);
  EXPECT_EQ(*r.lane_instructions_per_s, 64 * 48 * 32 / 0.25);
}

TEST(Bench, OnAGpuEachModeHasARecordWithItsOwnFigures) {
  FakeDevice device(DeviceKind::kCuda);
  const Kernel kernel = fake_kernel(kF32Types);
  FakeVendor vendor(device, {5, 4, 0.5, 2, -1});
  BenchOptions options = quick_options();
  options.vendor = &vendor;
  const auto records = bench(device, {{&kernel, "only"}}, kProblem, options);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].mode, Mode::kBurst);
  EXPECT_EQ(records[1].mode, Mode::kSustained);
  for (const Record& r : records) {
    EXPECT_EQ(r.verified, "full");
    EXPECT_DOUBLE_EQ(r.time_ms->median, 1);
    EXPECT_DOUBLE_EQ(*r.tflops, 2.0 * 64 * 48 * 32 / 1e9);
    EXPECT_EQ(r.vendor->name, "candidate 2 (fake 1.0)");  // the fastest one
    EXPECT_DOUBLE_EQ(r.vendor->time_ms.median, 0.5);
    EXPECT_DOUBLE_EQ(*r.ratio_to_vendor, 0.5);
    EXPECT_FALSE(r.samples_ms.empty());
    EXPECT_FALSE(r.counts);
  }
}

TEST(Bench, TheDefaultMayBeTheFastest) {
  FakeDevice device(DeviceKind::kCuda);
  const Kernel kernel = fake_kernel(kF32Types);
  FakeVendor vendor(device, {0.25, 4, 0.5});
  BenchOptions options = quick_options();
  options.vendor = &vendor;
  options.modes = {Mode::kBurst};
  const auto records = bench(device, {{&kernel, "only"}}, kProblem, options);
  EXPECT_EQ(records.at(0).vendor->name, "candidate 0 (fake 1.0)");
}

TEST(Bench, WithoutAVendorTheRatioIsNull) {
  FakeDevice device(DeviceKind::kCuda);
  const Kernel kernel = fake_kernel(kF32Types);
  for (const Record& r : bench(device, {{&kernel, "only"}}, kProblem, quick_options())) {
    EXPECT_TRUE(r.time_ms);
    EXPECT_FALSE(r.vendor);
    EXPECT_FALSE(r.ratio_to_vendor);
  }
}

TEST(Bench, AWrongKernelIsNotTimed) {
  FakeDevice device(DeviceKind::kCuda, Bug::kDropsLastK);
  const Kernel kernel = fake_kernel(kF32Types);
  const auto records = bench(device, {{&kernel, "only"}}, kProblem, quick_options());
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].verified, "failed");
  EXPECT_FALSE(records[0].time_ms);
  EXPECT_FALSE(records[0].reason.empty());
}

TEST(Bench, WhatTheGpuCannotLoadRunsOnTheFallbackAndIsMarked) {
  FakeDevice device(DeviceKind::kCuda), fallback;
  device.loads_images = false;
  const Kernel kernel = fake_kernel(kF32Types);
  BenchOptions options = quick_options();
  EXPECT_THROW(bench(device, {{&kernel, "only"}}, kProblem, options), StatusError);
  options.fallback = &fallback;
  const auto records = bench(device, {{&kernel, "only"}}, kProblem, options);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].device, "virtual");
  EXPECT_EQ(records[0].verified, "full");
  EXPECT_EQ(records[0].reason, "this GPU cannot load the image");
  EXPECT_TRUE(records[0].counts);
}

TEST(Bench, AKernelOfAnotherTypeIsARecordWithItsReason) {
  FakeDevice device(DeviceKind::kCuda);
  const Kernel kernel = fake_kernel(kF64Types);
  const auto records = bench(device, {{&kernel, "only"}}, kProblem, quick_options());
  ASSERT_EQ(records.size(), 1u);
  EXPECT_FALSE(records[0].verified);
  EXPECT_FALSE(records[0].reason.empty());
  EXPECT_EQ(device.launches, 0);
}

TEST(Bench, ZerosAreNeverTimed) {
  FakeDevice device(DeviceKind::kCuda);
  const Kernel kernel = fake_kernel(kF32Types);
  BenchOptions options = quick_options();
  options.verify.fill = Fill::kZeros;
  EXPECT_THROW(bench(device, {{&kernel, "only"}}, kProblem, options), StatusError);
}

TEST(Bench, OperandsRotateThroughTwiceTheL2) {
  FakeDevice device(DeviceKind::kCuda);
  const Kernel kernel = fake_kernel(kF32Types);
  BenchOptions options = quick_options();
  options.check_results = false;
  options.modes = {Mode::kBurst};
  bench(device, {{&kernel, "only"}}, kProblem, options);
  const std::set<DeviceAddress> outputs(device.outputs.begin(), device.outputs.end());
  const std::size_t set_bytes = 4 * (64 * 32 + 32 * 48 + 64 * 48);
  EXPECT_GT(outputs.size() * set_bytes, 2u << 16);
  for (std::size_t i = 1; i < device.outputs.size(); ++i) {
    EXPECT_NE(device.outputs[i], device.outputs[i - 1]);
  }
}

TEST(Bench, OperandsBeyond64BitsAreRefused) {
  FakeDevice device(DeviceKind::kCuda);
  const Kernel kernel = fake_kernel(kF64Types);
  BenchOptions options = quick_options();
  options.check_results = false;
  const std::int64_t huge = std::int64_t{1} << 29;  // A has 2^61 bytes, B and D 2^62 each
  try {
    bench(device, {{&kernel, "only"}}, {huge, 2 * huge, huge, kF64Types}, options);
    FAIL() << "5 * 2^61 bytes were taken";
  } catch (const StatusError& error) {
    EXPECT_EQ(error.status().code, StatusCode::kUnavailable);
    EXPECT_NE(error.status().message.find("more bytes than 64-bit addresses reach"),
              std::string::npos)
        << error.what();
  }
}

TEST(Bench, ARecordSaysWhatRanInHowMuchWorkspaceAndInWhichOrder) {
  FakeDevice device(DeviceKind::kCuda);
  const Kernel kernel = fake_kernel(kF32Types);
  FakeVendor vendor(device, {5, 4});
  BenchOptions options = quick_options();
  options.vendor = &vendor;
  options.measure.seed = 77;
  for (const bool checks : {true, false}) {
    options.check_results = checks;
    for (const Record& r : bench(device, {{&kernel, "only"}}, kProblem, options)) {
      EXPECT_EQ(r.image, "fake image");
      EXPECT_EQ(r.image_hash, hash_of_code("02_coalesced__32x32"));
      EXPECT_TRUE(r.image_is_patched);
      EXPECT_EQ(r.workspace_bytes, 0);
      EXPECT_FALSE(r.workspace_limit);
      EXPECT_EQ(r.vendor->workspace_bytes, 12345);
      EXPECT_EQ(r.order_seed, 77u);
      EXPECT_EQ(r.rounds, 2);
      EXPECT_FALSE(r.other_build);
    }
  }
}

// With one seed for a whole run every problem would see the same candidate first.
TEST(Bench, EveryProblemAndModeHasAnOrderOfItsOwn) {
  const Kernel kernel = fake_kernel(kF32Types);
  BenchOptions options = quick_options();
  options.check_results = false;
  options.measure.rounds = 1;
  options.measure.min_calls = options.measure.max_calls = 1;
  options.keep_samples = false;
  int ours_first = 0, changes = 0;
  constexpr int kProblems = 64;
  for (int i = 0; i < kProblems; ++i) {
    bool first[2] = {};
    for (const Mode mode : {Mode::kBurst, Mode::kSustained}) {
      FakeDevice device(DeviceKind::kCuda);
      FakeVendor vendor(device, {5});
      options.vendor = &vendor;
      options.modes = {mode};
      bench(device, {{&kernel, "only"}}, {8 + i, 8, 8}, options);
      first[mode == Mode::kBurst] = device.trace.at(device.trace.find('v') + 1) == 'k';
    }
    ours_first += first[0] + first[1];
    changes += first[0] != first[1];
  }
  EXPECT_NEAR(ours_first, kProblems, 0.4 * kProblems);
  EXPECT_NEAR(changes, kProblems / 2, 0.2 * kProblems);
}

TEST(Bench, TheSameSeedGivesTheSameOrder) {
  for (const Mode mode : {Mode::kBurst, Mode::kSustained}) {
    EXPECT_EQ(order_seed_of(5, kProblem, mode), order_seed_of(5, kProblem, mode));
    EXPECT_NE(order_seed_of(5, kProblem, mode), order_seed_of(6, kProblem, mode));
    Problem other = kProblem;
    set_layout(other, "TN");
    EXPECT_NE(order_seed_of(5, kProblem, mode), order_seed_of(5, other, mode));
  }
}

// A machine may be taken away at any time: what was measured by then is out.
TEST(Bench, RecordsAreToldAsSoonAsTheyAreThere) {
  const Kernel kernel = fake_kernel(kF32Types);
  const std::vector<BenchCandidate> three(3, {{&kernel, "only"}});
  std::vector<Record> told;
  BenchOptions options = quick_options();
  options.on_record = [&](const Record& record) { told.push_back(record); };
  FakeDevice virtual_device;
  virtual_device.dies_at = 5;  // two launches a verification
  EXPECT_THROW(bench(virtual_device, three, kProblem, options), StatusError);
  EXPECT_EQ(told.size(), 2u);

  told.clear();
  FakeDevice gpu(DeviceKind::kCuda);
  options.check_results = false;
  const auto burst_alone = [&] {
    FakeDevice counting(DeviceKind::kCuda);
    BenchOptions burst = options;
    burst.on_record = nullptr;
    burst.modes = {Mode::kBurst};
    bench(counting, three, kProblem, burst);
    return counting.launches;
  };
  gpu.dies_at = burst_alone() + 1;
  EXPECT_THROW(bench(gpu, three, kProblem, options), StatusError);
  ASSERT_EQ(told.size(), 3u);
  for (const Record& r : told) EXPECT_EQ(r.mode, Mode::kBurst);
}

TEST(Bench, WhatIsToldIsWhatIsReturned) {
  FakeDevice device(DeviceKind::kCuda);
  const Kernel f32 = fake_kernel(kF32Types), f64 = fake_kernel(kF64Types);
  std::vector<Json> told;
  BenchOptions options = quick_options();
  options.on_record = [&](const Record& record) { told.push_back(to_json(record)); };
  const auto records = bench(device, {{{&f64, "only"}}, {{&f32, "only"}}}, kProblem, options);
  ASSERT_EQ(records.size(), 3u);  // no figures of f64, two modes of f32
  ASSERT_EQ(told.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(told[i], to_json(records[i]));
}

// Packs A and B into whole blocks of 32 x 32: 64 x 32 and 32 x 64 elements of kProblem.
Kernel packing_kernel() {
  Kernel kernel = fake_kernel(kF32Types);
  kernel.family = "packed";
  kernel.own_images[""].name = kernel.rows.front().image;  // of the packing entries, too
  return kernel;
}
constexpr std::int64_t kPackedBytes = 4 * (64 * 32 + 32 * 64);

TEST(Bench, ACompanionWithinLessWorkspaceIsTimedInTheSameRun) {
  FakeDevice device(DeviceKind::kCuda);
  const Kernel packing = packing_kernel(), plain = fake_kernel(kF32Types);
  FakeVendor vendor(device, {2});
  BenchOptions options = quick_options();
  options.vendor = &vendor;
  options.modes = {Mode::kBurst};
  options.check_results = false;
  const auto records =
      bench(device, {{{&packing, "only"}}, {{&plain, "only"}, 500, false, 0}}, kProblem, options);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].workspace_bytes, kPackedBytes);
  EXPECT_FALSE(records[0].workspace_limit);
  EXPECT_EQ(records[1].workspace_bytes, 0);
  EXPECT_EQ(records[1].workspace_limit, 500);
  EXPECT_FALSE(records[1].within_vendor_workspace);
  ASSERT_TRUE(records[0].within_vendor_workspace);
  const Companion& within = *records[0].within_vendor_workspace;
  EXPECT_EQ(within.workspace_bytes, 0);
  EXPECT_EQ(within.workspace_limit, 500);
  EXPECT_DOUBLE_EQ(*within.time_ms, 1);
  EXPECT_DOUBLE_EQ(*within.ratio_to_vendor, 2);
}

TEST(Bench, AWorkspaceThatNoPlanFitsIsSaid) {
  FakeDevice device(DeviceKind::kCuda);
  const Kernel packing = packing_kernel(), plain = fake_kernel(kF32Types);
  for (const bool checks : {true, false}) {
    BenchOptions options = quick_options();
    options.check_results = checks;
    options.modes = {Mode::kBurst};
    for (const std::int64_t limit : {kPackedBytes, kPackedBytes - 1}) {
      if (checks && limit == kPackedBytes) continue;  // the fake packs nothing, so it is wrong
      const auto records = bench(
          device, {{{&plain, "only"}}, {{&packing, "only"}, limit, false, 0}}, kProblem, options);
      ASSERT_EQ(records.size(), 2u);
      const auto refused = std::find_if(records.begin(), records.end(), [](const Record& r) {
        return r.workspace_limit.has_value();
      });
      const Record& whole = records[refused == records.begin() ? 1 : 0];
      ASSERT_TRUE(whole.within_vendor_workspace);
      EXPECT_EQ(refused->time_ms.has_value(), limit == kPackedBytes);
      EXPECT_EQ(whole.within_vendor_workspace->time_ms.has_value(), limit == kPackedBytes);
      EXPECT_EQ(whole.within_vendor_workspace->reason, refused->reason);
      if (limit == kPackedBytes) continue;
      EXPECT_NE(refused->reason.find("16383"), std::string::npos) << refused->reason;
      EXPECT_NE(refused->reason.find("16384"), std::string::npos) << refused->reason;
    }
  }
}

TEST(Bench, AnotherBuildsCodeIsVerifiedAndTimedInTurn) {
  FakeDevice device(DeviceKind::kCuda);
  const Kernel kernel = fake_kernel(kF32Types);
  Kernel other = kernel;
  other.own_images[""].name = "other";
  device.ms_of_image["other"] = 1.25;
  BenchOptions options = quick_options();
  options.modes = {Mode::kBurst};
  const auto records =
      bench(device, {{{&kernel, "only"}}, {{&other, "only"}, gemm::kAnyWorkspace, true, 0}},
            kProblem, options);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_FALSE(records[0].other_build);
  EXPECT_EQ(records[0].image_hash, hash_of_code("02_coalesced__32x32"));
  EXPECT_DOUBLE_EQ(*records[0].ratio_to_other, 1.25);  // this build is faster
  EXPECT_EQ(records[0].other_image->image_hash, hash_of_code("other"));
  EXPECT_EQ(records[0].other_image->verified, "full");
  EXPECT_DOUBLE_EQ(*records[0].other_image->time_ms, 1.25);
  EXPECT_TRUE(records[1].other_build);
  EXPECT_EQ(records[1].image, "other build's fake image");
  EXPECT_FALSE(records[1].ratio_to_other);
  EXPECT_FALSE(records[1].other_image);
}

TEST(Bench, StoppingKeepsWhatThereIs) {
  FakeDevice device;
  const Kernel kernel = fake_kernel(kF32Types);
  BenchOptions options = quick_options();
  // A verification is two launches: after the first one's, and between those of the second.
  for (const int launches : {2, 3}) {
    device.launches = 0;
    options.stop = [&device, launches] { return device.launches >= launches; };
    const auto records =
        bench(device, {{&kernel, "only"}, {&kernel, "only"}, {&kernel, "only"}}, kProblem, options);
    EXPECT_EQ(records.size(), 1u);
    EXPECT_EQ(device.launches, launches);
  }
}

}  // namespace
}  // namespace tessera::lab
