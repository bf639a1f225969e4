// Findings grouped by what mends them, from findings written by hand.
#include "lab/verify/cures.h"

#include <gtest/gtest.h>

namespace tessera::lab {
namespace {

using vgpu::Finding;
using vgpu::FindingPlace;

FindingPlace at(int ptx_line, int source_line) {
  FindingPlace place;
  place.ptx_line = ptx_line;
  place.source_file = "a.cu";
  place.source_line = source_line;
  return place;
}

// A race of two lines; the later access is named first, and lines of the PTX are ten times those of
// the source.
Finding race(int earlier, int later) {
  Finding finding;
  finding.check = "race";
  finding.message = "a race";
  finding.hint = "put __syncthreads() somewhere";
  finding.places = {at(10 * later, later), at(10 * earlier, earlier)};
  return finding;
}

TEST(ByCure, WhatOneBarrierMendsIsOne) {
  const std::vector<Cure> cures = by_cure({race(1, 5), race(2, 6), race(3, 9)});
  ASSERT_EQ(cures.size(), 1u);
  EXPECT_EQ(cures[0].findings.size(), 3u);
  EXPECT_EQ(cures[0].what, "put __syncthreads() between a.cu:3 and a.cu:5");
}

TEST(ByCure, WhatTakesTwoBarriersIsTwo) {
  const std::vector<Cure> cures = by_cure({race(5, 9), race(1, 5), race(2, 4)});
  ASSERT_EQ(cures.size(), 2u);
  EXPECT_EQ(cures[0].findings.size(), 2u);
  EXPECT_EQ(cures[0].what, "put __syncthreads() between a.cu:2 and a.cu:4");
  EXPECT_EQ(cures[1].what, "put __syncthreads() between a.cu:5 and a.cu:9");
}

TEST(ByCure, EachLoopHasABarrierAtItsEnd) {
  const std::vector<Cure> cures = by_cure({race(9, 5), race(8, 6), race(30, 20), race(5, 9)});
  ASSERT_EQ(cures.size(), 3u);
  EXPECT_EQ(cures[0].what, "put __syncthreads() after a.cu:9, before a.cu:5 runs again");
  EXPECT_EQ(cures[0].findings.size(), 2u);
  EXPECT_EQ(cures[1].what, "put __syncthreads() between a.cu:5 and a.cu:9");
  EXPECT_EQ(cures[2].what, "put __syncthreads() after a.cu:30, before a.cu:20 runs again");
}

TEST(ByCure, OtherFindingsStayAlone) {
  Finding other = race(1, 5);
  other.check = "uninitialised-shared-read";
  Finding atomic = race(1, 5);
  atomic.hint = "make it atomic";
  const std::vector<Cure> cures = by_cure({race(1, 5), other, atomic, race(2, 5)});
  ASSERT_EQ(cures.size(), 3u);
  EXPECT_EQ(cures[0].findings[0].check, "uninitialised-shared-read");
  EXPECT_EQ(cures[1].what, "make it atomic");
  EXPECT_EQ(cures[2].findings.size(), 2u);
  EXPECT_TRUE(by_cure({}).empty());
}

TEST(OwnLine, IsTheKernelsAndNamesTheHelpers) {
  FindingPlace place = at(120, 61);
  EXPECT_EQ(own_line(place), "a.cu:61");
  place.callers = {{"helper.h", 7}, {"kernel.cu", 28}};
  EXPECT_EQ(own_line(place), "kernel.cu:28 (inlined from a.cu:61)");
  EXPECT_EQ(own_line(FindingPlace{.ptx_line = 120}), "PTX line 120");
}

}  // namespace
}  // namespace tessera::lab
