// What the CPU takes, between and beyond the cubes that were timed.
#include <gtest/gtest.h>

#include "gemm/host/side.h"

namespace tessera::gemm {
namespace {

TEST(HostSide, TheTimeGrowsWithTheSize) {
  const host::CpuRates rates{{1, 10, 100, 1000, 10000}};
  double last = 0;
  std::size_t measured = 0;
  for (std::int64_t size = 8; size <= 600; ++size) {
    Problem cube{.m = size, .n = size, .k = size};
    const double us = host::predicted_sides(with_default_ld(cube), rates).cpu;
    EXPECT_GT(us, last) << size;
    last = us;
    if (measured < rates.us.size() && size == host::CpuRates::kSizes[measured]) {
      EXPECT_NEAR(us, rates.us[measured], 1e-6 * us);
      ++measured;
    }
  }
  EXPECT_EQ(measured, rates.us.size());
}

}  // namespace
}  // namespace tessera::gemm
