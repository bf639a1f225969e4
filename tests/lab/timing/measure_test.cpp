// Measuring without a GPU: a fake timer whose clock moves by what the fake kernels say.
#include "lab/timing/measure.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace tessera::lab {
namespace {

class FakeTimer : public Timer {
 public:
  double now = 0;
  double idled = 0;
  int idles = 0;
  std::vector<std::string> log;

  std::uint64_t mark() override {
    marks_.push_back(now);
    return marks_.size() - 1;
  }
  double milliseconds_between(std::uint64_t begin, std::uint64_t end) override {
    return marks_.at(end) - marks_.at(begin);
  }
  void synchronize() override {}
  void idle(double milliseconds) override {
    idled += milliseconds;
    ++idles;
    log.push_back("idle");
  }
  // A kernel of a known duration that notes its calls.
  Candidate kernel(const std::string& name, double milliseconds) {
    return {name, [this, name, milliseconds](std::int64_t) {
              now += milliseconds;
              log.push_back(name);
            }};
  }

 private:
  std::vector<double> marks_;
};

int count(const std::vector<std::string>& log, const std::string& name) {
  return static_cast<int>(std::count(log.begin(), log.end(), name));
}

TEST(Measure, SamplesAreTheCallsDurations) {
  FakeTimer timer;
  const auto samples =
      measure(timer, {timer.kernel("fast", 2), timer.kernel("slow", 5)}, Mode::kBurst);
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_EQ(samples[0].name, "fast");
  for (double ms : samples[0].milliseconds) EXPECT_DOUBLE_EQ(ms, 2);
  for (double ms : samples[1].milliseconds) EXPECT_DOUBLE_EQ(ms, 5);
}

// 50 ms of a 2 ms kernel are 25 calls, in each of 5 rounds.
TEST(Measure, ABurstLastsFiftyMilliseconds) {
  FakeTimer timer;
  const auto samples = measure(timer, {timer.kernel("x", 2)}, Mode::kBurst);
  EXPECT_EQ(samples[0].calls, 5 * 25);
  EXPECT_EQ(samples[0].milliseconds.size(), 5u * 25u);
  EXPECT_EQ(count(timer.log, "x"), 5 * (25 + 3) + 2);  // warm-ups; 2 untimed calls at the start
  EXPECT_EQ(timer.idles, 5);
  EXPECT_EQ(timer.idled, 5 * 250);
}

TEST(Measure, ABurstHasEightToTwoHundredCalls) {
  FakeTimer timer;
  EXPECT_EQ(measure(timer, {timer.kernel("x", 40)}, Mode::kBurst)[0].calls, 5 * 8);
  EXPECT_EQ(measure(timer, {timer.kernel("x", 0.01)}, Mode::kBurst)[0].calls, 5 * 200);
}

TEST(Measure, ALongCallIsMadeThreeTimes) {
  FakeTimer timer;
  const auto samples = measure(timer, {timer.kernel("x", 301)}, Mode::kBurst);
  EXPECT_EQ(samples[0].calls, 5 * 3);
  EXPECT_EQ(count(timer.log, "x"), 5 * (3 + 1) + 1);
}

TEST(Measure, SustainedRunsHotBeforeItIsTimed) {
  FakeTimer timer;
  const auto samples = measure(timer, {timer.kernel("x", 2)}, Mode::kSustained);
  EXPECT_EQ(samples[0].calls, 5 * 50);
  EXPECT_EQ(count(timer.log, "x"), 5 * (50 + 50) + 2);
  EXPECT_EQ(timer.idles, 0);
}

// 100 ms of a 1 us kernel would be 100000 marks; they share 200.
TEST(Measure, ShortCallsShareMarks) {
  FakeTimer timer;
  MeasureOptions options;
  options.rounds = 1;
  const auto samples = measure(timer, {timer.kernel("x", 0.001)}, Mode::kSustained, options);
  EXPECT_EQ(samples[0].milliseconds.size(), 200u);
  EXPECT_NEAR(static_cast<double>(samples[0].calls), 100000, 1);
  EXPECT_EQ(samples[0].calls_per_sample, 500);
  for (double ms : samples[0].milliseconds) EXPECT_NEAR(ms, 0.001, 1e-9);
}

// Order of the groups in each round: what ran between two idles.
std::vector<std::string> group_order(const std::vector<std::string>& log) {
  std::vector<std::string> order;
  for (std::size_t i = 0; i + 1 < log.size(); ++i) {
    if (log[i] == "idle") order.push_back(log[i + 1]);
  }
  return order;
}

TEST(Measure, GroupsTakeTurnsInSeededRandomOrder) {
  std::set<std::vector<std::string>> rounds;
  std::vector<std::string> first;
  for (int repeat = 0; repeat < 2; ++repeat) {
    FakeTimer timer;
    MeasureOptions options;
    options.rounds = 20;
    options.seed = 3;
    measure(timer, {timer.kernel("a", 9), timer.kernel("b", 9), timer.kernel("c", 9)}, Mode::kBurst,
            options);
    const auto order = group_order(timer.log);
    ASSERT_EQ(order.size(), 60u);
    for (int round = 0; round < 20; ++round) {
      std::vector<std::string> part(order.begin() + 3 * round, order.begin() + 3 * round + 3);
      EXPECT_EQ(std::set<std::string>(part.begin(), part.end()).size(), 3u);  // each once a round
      rounds.insert(part);
    }
    if (repeat == 0) first = order;
    EXPECT_EQ(order, first);  // the same seed, the same order
  }
  EXPECT_GE(rounds.size(), 4u);  // of 6 possible orders
}

// Whoever is first after the idling, or behind a hungry neighbour, measures another clock.
TEST(Measure, DrawnSeedsPutEveryCandidateEverywhereEquallyOften) {
  constexpr int kRuns = 1000, kRounds = 5;
  for (const std::size_t candidates : {2, 3, 4}) {
    std::vector<std::vector<int>> times(candidates, std::vector<int>(candidates));
    for (int run = 0; run < kRuns; ++run) {
      const std::uint64_t seed = drawn_seed();
      for (int round = 0; round < kRounds; ++round) {
        const auto order = order_of_round(candidates, seed, round);
        for (std::size_t place = 0; place < candidates; ++place) ++times[order[place]][place];
      }
    }
    const double expected = 1.0 * kRuns * kRounds / static_cast<double>(candidates);
    for (const auto& places : times) {
      for (const int count : places) EXPECT_NEAR(count, expected, 6 * std::sqrt(expected));
    }
  }
}

TEST(Measure, SeedsAreDrawnAnew) {
  std::set<std::uint64_t> seeds;
  for (int i = 0; i < 100; ++i) seeds.insert(drawn_seed());
  EXPECT_GT(seeds.size(), 95u);
}

TEST(Measure, RoundsAreCounted) {
  FakeTimer timer;
  int groups = 0;
  MeasureOptions options;
  EXPECT_EQ(measure(timer, {timer.kernel("x", 25)}, Mode::kBurst, options)[0].rounds, 5);
  options.stop = [&] { return groups == 3; };
  options.progress = [&](int done, int) { groups = done; };
  const auto samples =
      measure(timer, {timer.kernel("a", 25), timer.kernel("b", 25)}, Mode::kBurst, options);
  EXPECT_EQ(samples[0].rounds + samples[1].rounds, 3);
}

TEST(Measure, CallsAreNumberedSoThatBuffersRotate) {
  FakeTimer timer;
  std::vector<std::int64_t> numbers;
  MeasureOptions options;
  options.rounds = 2;
  measure(timer,
          {{"x",
            [&](std::int64_t i) {
              numbers.push_back(i);
              timer.now += 10;
            }}},
          Mode::kBurst, options);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    EXPECT_EQ(numbers[i], static_cast<std::int64_t>(i));
  }
}

TEST(Measure, StoppingKeepsWhatWasMeasured) {
  FakeTimer timer;
  int groups = 0;
  MeasureOptions options;
  options.stop = [&] { return groups == 3; };
  options.progress = [&](int done, int all) {
    groups = done;
    EXPECT_EQ(all, 10);
  };
  const auto samples =
      measure(timer, {timer.kernel("a", 25), timer.kernel("b", 25)}, Mode::kBurst, options);
  EXPECT_EQ(samples[0].calls + samples[1].calls, 3 * 8);
}

TEST(Measure, TheBusyHookIsCalledForEachGroup) {
  FakeTimer timer;
  int busy[2] = {};
  MeasureOptions options;
  options.on_busy = [&](std::size_t i) { ++busy[i]; };
  measure(timer, {timer.kernel("a", 25), timer.kernel("b", 25)}, Mode::kSustained, options);
  EXPECT_EQ(busy[0], 5);
  EXPECT_EQ(busy[1], 5);
}

}  // namespace
}  // namespace tessera::lab
