// Findings grouped by what mends them, from findings written by hand.
#include "vgpu/observe/cures.h"

#include <gtest/gtest.h>

namespace tessera::vgpu {
namespace {

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
  finding.hint = "put __syncthreads() here";
  finding.cure = "put __syncthreads()";
  finding.cure_at = CureAt::kBetween;
  finding.places = {at(10 * later, later), at(10 * earlier, earlier)};
  return finding;
}

std::vector<std::string> texts_of(const std::vector<Finding>& findings) {
  std::vector<std::string> texts;
  for (const Cure& cure : by_cure(findings)) texts.push_back(text_of(cure, findings, own_line));
  return texts;
}
using Numbers = std::vector<std::size_t>;
using Texts = std::vector<std::string>;

TEST(ByCure, WhatOneBarrierMendsIsOne) {
  const std::vector<Finding> findings = {race(1, 5), race(2, 6), race(3, 9)};
  const std::vector<Cure> cures = by_cure(findings);
  ASSERT_EQ(cures.size(), 1u);
  EXPECT_EQ(cures[0].findings, (Numbers{0, 1, 2}));
  EXPECT_EQ(texts_of(findings), (Texts{"put __syncthreads() between a.cu:3 and a.cu:5"}));
}

TEST(ByCure, WhatTakesTwoBarriersIsTwo) {
  const std::vector<Finding> findings = {race(5, 9), race(1, 5), race(2, 4)};
  const std::vector<Cure> cures = by_cure(findings);
  ASSERT_EQ(cures.size(), 2u);
  EXPECT_EQ(cures[0].findings, (Numbers{0}));
  EXPECT_EQ(cures[1].findings, (Numbers{1, 2}));
  EXPECT_EQ(texts_of(findings), (Texts{"put __syncthreads() between a.cu:5 and a.cu:9",
                                       "put __syncthreads() between a.cu:2 and a.cu:4"}));
}

TEST(ByCure, ALineIsNotToldFromItself) {
  const LineName name = [](const FindingPlace& place) {
    return "line " + std::to_string(place.source_line);
  };
  FindingPlace reads = at(50, 5), writes = at(55, 5);
  reads.what = "read this shared memory";
  writes.what = "wrote 4 bytes of shared memory";
  EXPECT_EQ(gap_text(reads, writes, false, name),
            "between the read and the write of line 5, which is to be taken apart");
  EXPECT_EQ(gap_text(reads, writes, true, name), "after line 5, before it runs again");
  EXPECT_EQ(gap_text(writes, reads, false, name), "after line 5, before it runs again");
  EXPECT_EQ(gap_text(writes, writes, false, name), "after line 5, before it runs again");
  // The same line of a function that is called twice.
  reads.callers = {{"a.cu", 20}};
  writes.callers = {{"a.cu", 30}};
  EXPECT_EQ(gap_text(reads, writes, false, name), "between line 20 and line 30");
  EXPECT_EQ(gap_text(writes, reads, true, name), "after line 30, before line 20 runs again");
}

TEST(ByCure, EachLoopHasABarrierAtItsEnd) {
  EXPECT_EQ(texts_of({race(9, 5), race(8, 6), race(30, 20), race(5, 9)}),
            (Texts{"put __syncthreads() after a.cu:9, before a.cu:5 runs again",
                   "put __syncthreads() after a.cu:30, before a.cu:20 runs again",
                   "put __syncthreads() between a.cu:5 and a.cu:9"}));
}

TEST(ByCure, OtherFindingsStayAlone) {
  Finding other = race(1, 5);
  other.check = "lost-update";
  Finding atomic = race(1, 5);
  atomic.hint = "make it atomic";
  atomic.cure_at = CureAt::kNowhere;
  Finding note = race(1, 5);
  note.severity = Severity::kNote;
  Finding cluster = race(1, 5);
  cluster.cure = "put a barrier of the cluster";
  const std::vector<Cure> cures =
      by_cure({race(1, 5), other, atomic, race(2, 5), note, cluster, atomic});
  ASSERT_EQ(cures.size(), 6u);
  EXPECT_EQ(cures[0].findings, (Numbers{0, 3}));
  EXPECT_EQ(texts_of({atomic}), (Texts{"make it atomic"}));
  EXPECT_TRUE(by_cure({}).empty());
}

TEST(ByCure, WhatIsReadTooEarlyIsMendedWithTheRace) {
  Finding early = race(1, 5);
  early.check = "uninitialised-shared-read";
  const std::vector<Cure> cures = by_cure({race(2, 5), early});
  ASSERT_EQ(cures.size(), 1u);
  EXPECT_EQ(cures[0].findings, (Numbers{0, 1}));
}

// Its barrier is not known: pairs without a common line may have one each.
TEST(ByCure, AFenceIsOneWhereALineIsCommon) {
  const auto unfenced = [](int earlier, int later) {
    Finding finding = race(earlier, later);
    finding.check = "missing-proxy-fence";
    finding.cure = "put fence.proxy.async";
    finding.cure_at = CureAt::kBeforeBarrier;
    return finding;
  };
  EXPECT_EQ(texts_of({unfenced(1, 9), unfenced(2, 9)}),
            (Texts{"put fence.proxy.async after a.cu:2, in the threads that run it, before the "
                   "barrier or arrival that leads to a.cu:9"}));
  EXPECT_EQ(by_cure({unfenced(1, 8), unfenced(1, 9)}).size(), 1u);
  EXPECT_EQ(by_cure({unfenced(1, 8), unfenced(2, 9)}).size(), 2u);
}

TEST(ByCure, OneBarrierAtTheEndKeepsACtaForAll) {
  const auto exited = [](int line) {
    Finding finding;
    finding.check = "exited-cta";
    finding.cure = "put a barrier of the cluster";
    finding.cure_at = CureAt::kBeforeExit;
    finding.places = {at(10 * line, line)};
    return finding;
  };
  EXPECT_EQ(texts_of({exited(4), exited(7), exited(5)}),
            (Texts{"put a barrier of the cluster after a.cu:7, before any CTA of it ends"}));
}

TEST(OwnLine, IsTheKernelsAndNamesTheHelpers) {
  FindingPlace place = at(120, 61);
  EXPECT_EQ(own_line(place), "a.cu:61");
  place.callers = {{"helper.h", 7}, {"kernel.cu", 28}};
  EXPECT_EQ(own_line(place), "kernel.cu:28 (inlined from a.cu:61)");
  EXPECT_EQ(own_line(FindingPlace{.ptx_line = 120}), "PTX line 120");
}

}  // namespace
}  // namespace tessera::vgpu
