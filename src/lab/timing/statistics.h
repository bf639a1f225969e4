// Statistics of a list of samples.
#pragma once

#include <cstdint>
#include <vector>

namespace tessera::lab {

struct Summary {
  double median = 0, p5 = 0, p95 = 0;
  std::int64_t n = 0;
};

// Percentiles are interpolated linearly between the sorted samples. Throws kBadArgument if there
// are no samples.
Summary summarize(std::vector<double> samples);

}  // namespace tessera::lab
