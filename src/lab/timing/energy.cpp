#include "lab/timing/energy.h"

#include <algorithm>
#include <cmath>

namespace tessera::lab {
namespace {

std::int64_t calls_in(double ms, double call_ms) {
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(ms / call_ms)));
}

// Returns the joules of one call in one round; nullopt if the counter gives no value.
std::optional<double> one_round(Timer& timer, const EnergyCounter& counter,
                                const EnergyCandidate& run, std::int64_t& next_call,
                                const EnergyOptions& options) {
  const auto call = [&](std::int64_t times) {
    for (std::int64_t i = 0; i < times; ++i) run.candidate.call(next_call++);
    timer.synchronize();
  };
  call(calls_in(options.warm_ms, run.call_ms));
  const std::optional<double> before = counter();
  const std::int64_t calls = calls_in(options.timed_ms, run.call_ms);
  call(calls);
  const std::optional<double> after = counter();
  if (!before || !after) return std::nullopt;
  return (*after - *before) / static_cast<double>(calls);
}

}  // namespace

std::vector<std::optional<double>> joules_a_call(Timer& timer, const EnergyCounter& counter,
                                                 const std::vector<EnergyCandidate>& candidates,
                                                 const EnergyOptions& options) {
  std::vector<double> sums(candidates.size());
  std::vector<int> rounds(candidates.size());
  std::vector<std::int64_t> next_call(candidates.size());
  for (int round = 0; round < options.rounds; ++round) {
    for (const std::size_t i : shuffled_order(candidates.size(), options.seed + round)) {
      if (options.stop && options.stop()) break;
      const auto joules = one_round(timer, counter, candidates[i], next_call[i], options);
      if (!joules) continue;
      sums[i] += *joules;
      ++rounds[i];
    }
  }
  std::vector<std::optional<double>> means(candidates.size());
  for (std::size_t i = 0; i < means.size(); ++i) {
    if (rounds[i] > 0) means[i] = sums[i] / rounds[i];
  }
  return means;
}

}  // namespace tessera::lab
