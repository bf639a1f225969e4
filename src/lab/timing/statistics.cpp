#include "lab/timing/statistics.h"

#include <algorithm>
#include <cmath>

#include "base/status.h"

namespace tessera::lab {
namespace {

// The value below which `share` of the sorted samples lie.
double percentile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(at));
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

Summary summarize(std::vector<double> samples) {
  if (samples.empty()) throw StatusError(Status::bad_argument("there are no samples to summarize"));
  std::sort(samples.begin(), samples.end());
  return {percentile(samples, 0.5), percentile(samples, 0.05), percentile(samples, 0.95),
          static_cast<std::int64_t>(samples.size())};
}

}  // namespace tessera::lab
