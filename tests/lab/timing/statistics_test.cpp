#include "lab/timing/statistics.h"

#include <gtest/gtest.h>

#include "base/status.h"

namespace tessera::lab {
namespace {

TEST(Statistics, OddAndEvenMedians) {
  EXPECT_EQ(summarize({3, 1, 2}).median, 2);
  EXPECT_EQ(summarize({4, 1, 3, 2}).median, 2.5);
}

TEST(Statistics, PercentilesInterpolate) {
  std::vector<double> samples;
  for (int i = 100; i >= 0; --i) samples.push_back(i);
  const Summary summary = summarize(samples);
  EXPECT_EQ(summary.n, 101);
  EXPECT_DOUBLE_EQ(summary.p5, 5);
  EXPECT_DOUBLE_EQ(summary.p95, 95);
  EXPECT_DOUBLE_EQ(summarize({10, 20}).p5, 10.5);
}

TEST(Statistics, OneSampleIsItsOwnSummary) {
  const Summary summary = summarize({7});
  EXPECT_EQ(summary.p5, 7);
  EXPECT_EQ(summary.median, 7);
  EXPECT_EQ(summary.p95, 7);
}

TEST(Statistics, NoSamplesAreRefused) { EXPECT_THROW(summarize({}), StatusError); }

}  // namespace
}  // namespace tessera::lab
