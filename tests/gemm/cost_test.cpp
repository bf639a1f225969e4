// What steps of a plan are taken to cost.
#include "gemm/cost/cost.h"

#include <gtest/gtest.h>

#include "arch/gpus.h"

namespace tessera {
namespace {

// A copy cannot be faster than what memory was seen to do, and small ones cost a launch.
TEST(Cost, RepackingReadsAndWrites) {
  constexpr std::int64_t kGigabyte = 1'000'000'000;
  const double microseconds = 2.0 * kGigabyte / (arch::kH200.assumed_copy * 1e3);
  EXPECT_GT(gemm::cost_of_repacking(kGigabyte, {}), microseconds);
  EXPECT_LT(gemm::cost_of_repacking(kGigabyte, {}), 2 * microseconds);
  EXPECT_GT(gemm::cost_of_repacking(256, {}), 1);
  EXPECT_EQ(gemm::cost_of_repacking(0, {}), 0);
}

}  // namespace
}  // namespace tessera
