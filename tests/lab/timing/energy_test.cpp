// Energy without a GPU: a fake counter that grows with what the fake kernels use.
#include "lab/timing/energy.h"

#include <gtest/gtest.h>

namespace tessera::lab {
namespace {

class FakeTimer : public Timer {
 public:
  std::uint64_t mark() override { return 0; }
  double milliseconds_between(std::uint64_t, std::uint64_t) override { return 0; }
  void synchronize() override {}
  void idle(double) override {}
};

struct FakeGpu {
  double joules = 1000;
  int calls = 0;
  EnergyCandidate kernel(double joules_a_call, double call_ms) {
    return {{"", [this, joules_a_call](std::int64_t) { joules += joules_a_call, ++calls; }},
            call_ms};
  }
  EnergyCounter counter() {
    return [this] { return std::optional(joules); };
  }
};

TEST(Energy, IsCountedForEachCall) {
  FakeTimer timer;
  FakeGpu gpu;
  const auto joules = joules_a_call(timer, gpu.counter(), {gpu.kernel(0.5, 10), gpu.kernel(2, 40)});
  ASSERT_EQ(joules.size(), 2u);
  EXPECT_DOUBLE_EQ(joules[0].value(), 0.5);
  EXPECT_DOUBLE_EQ(joules[1].value(), 2);
  EXPECT_EQ(gpu.calls, 2 * (50 + 300 + 13 + 75)) << "half a second warm, three seconds timed";
}

TEST(Energy, ALongCallIsMadeOnceAtLeast) {
  FakeTimer timer;
  FakeGpu gpu;
  joules_a_call(timer, gpu.counter(), {gpu.kernel(1, 1e6)}, {.rounds = 1});
  EXPECT_EQ(gpu.calls, 2);
}

TEST(Energy, WithoutACounterThereIsNone) {
  FakeTimer timer;
  FakeGpu gpu;
  const EnergyCounter silent = [] { return std::optional<double>(); };
  EXPECT_FALSE(joules_a_call(timer, silent, {gpu.kernel(1, 100)})[0].has_value());
}

TEST(Energy, StopsBetweenRuns) {
  FakeTimer timer;
  FakeGpu gpu;
  const auto joules =
      joules_a_call(timer, gpu.counter(), {gpu.kernel(1, 100)}, {.stop = [] { return true; }});
  EXPECT_FALSE(joules[0].has_value());
  EXPECT_EQ(gpu.calls, 0);
}

}  // namespace
}  // namespace tessera::lab
