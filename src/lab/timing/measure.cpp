#include "lab/timing/measure.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <random>
#include <thread>

#include "lab/data/fill.h"

namespace tessera::lab {
namespace {

constexpr double kShortestCall = 1e-3;  // ms; a lower limit, so that the number of calls is finite

// Returns a percentile (`share` of 0 to 1), interpolated linearly between the sorted samples.
double percentile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(at));
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

// One candidate's state over all rounds.
struct Course {
  const Candidate& candidate;
  double estimate_ms = 0;  // time of one call, from an untimed look
  std::int64_t next_call = 0;

  void call(std::int64_t times) {
    for (std::int64_t i = 0; i < times; ++i) candidate.call(next_call++);
  }
};

// How many calls to make in one group.
struct GroupPlan {
  std::int64_t untimed = 0, timed = 0, calls_per_sample = 1;
};

GroupPlan plan_group(double estimate_ms, Mode mode, const MeasureOptions& options) {
  const auto calls_in = [&](double ms) {
    return static_cast<std::int64_t>(std::ceil(ms / estimate_ms));
  };
  if (mode == Mode::kSustained) {
    const std::int64_t calls = std::max<std::int64_t>(1, calls_in(options.sustained_ms));
    return {calls, calls, (calls + options.max_samples - 1) / options.max_samples};
  }
  if (estimate_ms > options.long_call_ms) return {1, 3, 1};
  const auto calls =
      std::clamp<std::int64_t>(calls_in(options.burst_ms), options.min_calls, options.max_calls);
  return {options.warm_ups, calls, 1};
}

double time_one(Timer& timer, Course& course) {
  const std::uint64_t begin = timer.mark();
  course.call(1);
  const std::uint64_t end = timer.mark();
  timer.synchronize();
  return timer.milliseconds_between(begin, end);
}

// Returns the time of one call. The first call may load code, so a second one is measured unless
// the first was long.
double estimate(Timer& timer, Course& course, const MeasureOptions& options) {
  const double first = time_one(timer, course);
  const double ms = first > options.long_call_ms ? first : time_one(timer, course);
  return std::max(ms, kShortestCall);
}

// Enqueues the timed calls with marks between them, and reads the marks afterwards.
void time_group(Timer& timer, Course& course, const GroupPlan& plan, Samples& samples,
                const std::function<void()>& on_busy) {
  course.call(plan.untimed);
  std::vector<std::uint64_t> marks{timer.mark()};
  std::vector<std::int64_t> calls;
  for (std::int64_t left = plan.timed; left > 0; left -= calls.back()) {
    calls.push_back(std::min(left, plan.calls_per_sample));
    course.call(calls.back());
    marks.push_back(timer.mark());
  }
  on_busy();
  timer.synchronize();
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const double ms = timer.milliseconds_between(marks[i], marks[i + 1]);
    samples.milliseconds.push_back(ms / static_cast<double>(calls[i]));
  }
  samples.calls += plan.timed;
  samples.calls_per_sample = plan.calls_per_sample;
  ++samples.rounds;
}

}  // namespace

Summary summarize(std::vector<double> samples) {
  if (samples.empty()) throw StatusError(Status::bad_argument("there are no samples to summarize"));
  std::sort(samples.begin(), samples.end());
  return {percentile(samples, 0.5), percentile(samples, 0.05), percentile(samples, 0.95),
          static_cast<std::int64_t>(samples.size())};
}

std::vector<std::size_t> shuffled_order(std::size_t count, std::uint64_t seed) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = count; i > 1; --i) {
    seed = mix_bits(seed);
    std::swap(order[i - 1], order[seed % i]);
  }
  return order;
}

std::vector<std::size_t> order_of_round(std::size_t count, std::uint64_t seed, int round) {
  return shuffled_order(count, mix_bits(seed) + round);
}

std::uint64_t drawn_seed() { return std::random_device()(); }

std::string_view name_of(Mode mode) { return mode == Mode::kBurst ? "burst" : "sustained"; }

std::uint64_t DeviceTimer::mark() { return device_.record_mark(); }
void DeviceTimer::synchronize() { device_.synchronize(); }

double DeviceTimer::milliseconds_between(std::uint64_t begin, std::uint64_t end) {
  const auto ms = device_.milliseconds_between(begin, end);
  if (!ms) throw StatusError(Status::unavailable("the virtual GPU has no clock to time with"));
  return *ms;
}

void DeviceTimer::idle(double milliseconds) {
  device_.synchronize();
  std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(milliseconds));
}

std::vector<Samples> measure(Timer& timer, const std::vector<Candidate>& candidates, Mode mode,
                             const MeasureOptions& options) {
  std::vector<Course> courses;
  std::vector<Samples> samples;
  for (const Candidate& candidate : candidates) {
    courses.push_back({candidate});
    samples.push_back({candidate.name, {}, 0, 1});
  }
  // WHY: a device makes its first marks slowly, which must not happen between two timed calls.
  for (int i = 0; i <= std::max(options.max_calls, options.max_samples); ++i) timer.mark();
  const auto stopped = [&] { return options.stop && options.stop(); };
  const int groups = options.rounds * static_cast<int>(candidates.size());
  int done = 0;
  for (int round = 0; round < options.rounds; ++round) {
    for (const std::size_t i : order_of_round(candidates.size(), options.seed, round)) {
      if (stopped()) return samples;
      Course& course = courses[i];
      if (round == 0) course.estimate_ms = estimate(timer, course, options);
      if (mode == Mode::kBurst) timer.idle(options.idle_ms);
      time_group(timer, course, plan_group(course.estimate_ms, mode, options), samples[i], [&] {
        if (options.on_busy) options.on_busy(i);
      });
      if (options.progress) options.progress(++done, groups);
    }
  }
  return samples;
}

}  // namespace tessera::lab
