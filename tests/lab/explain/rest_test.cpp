// The longest resource and the rest add up to the predicted time, on made-up figures.
#include "lab/explain/rest.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tessera::lab {
namespace {

LaunchPrediction replayed(double loop, double even, double memory, double filling) {
  LaunchPrediction launch;
  launch.launch_ms = 4;
  launch.wave_ms = filling;
  launch.loop_ms = loop;
  launch.even_ms = even;
  launch.units = launch.even_units = {{"issue slots", even / 2}, {"device memory", memory}};
  launch.ms = launch.launch_ms + filling + std::max(loop, memory);
  return launch;
}

double ms_of(const std::vector<UnitTime>& rest, std::string_view begin) {
  double ms = 0;
  for (const UnitTime& part : rest) ms += part.name.starts_with(begin) ? part.ms : 0;
  return ms;
}

TEST(Rest, AddsUpToThePredictedTime) {
  for (const double loop : {5.5, 8.0, 40.0}) {
    for (const double even : {3.0, 5.0}) {
      for (const double memory : {2.0, 6.0, 20.0}) {
        for (const double filling : {4.0, 16.0}) {
          const LaunchPrediction launch = replayed(loop, even, memory, filling);
          for (const double bound : {1.0, 5.0, 7.0, 9.0}) {
            double sum = bound;
            for (const UnitTime& part : rest_of({&launch, 1}, bound)) sum += part.ms;
            EXPECT_LE(sum, launch.ms * (1 + 1e-9)) << loop << " " << even << " " << memory;
            EXPECT_GE(sum, launch.ms * 0.98) << "all but parts that are left out";
          }
        }
      }
    }
  }
}

TEST(Rest, WorkOutsideOfTheLoopIsDoneWhileTheSmsFillAndDrain) {
  const LaunchPrediction launch = replayed(5.5, 5.5, 2, 16);
  const auto rest = rest_of({&launch, 1}, 8.5);
  EXPECT_NEAR(ms_of(rest, "filling"), 13, 1e-9);
  EXPECT_NEAR(ms_of(rest, "launching"), 4, 1e-9);
  EXPECT_EQ(rest.size(), 2u);
}

TEST(Rest, ALastWaveThatMemoryOutlastsCostsNothing) {
  const LaunchPrediction launch = replayed(6, 5, 8, 4);
  const auto rest = rest_of({&launch, 1}, 7);
  EXPECT_EQ(ms_of(rest, "a last wave"), 0);
  EXPECT_NEAR(ms_of(rest, "reading and writing"), 1, 1e-9);
  const LaunchPrediction of_loop = replayed(9, 5, 8, 4);
  EXPECT_NEAR(ms_of(rest_of({&of_loop, 1}, 5), "a last wave"), 4, 1e-9);
}

}  // namespace
}  // namespace tessera::lab
