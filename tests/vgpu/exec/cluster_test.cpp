// Clusters: their shapes, their barrier, and what goes wrong between their CTAs.
#include <gtest/gtest.h>

#include "tests/vgpu/exec/run_ptx.h"

namespace tessera::vgpu {
namespace {

LaunchShape clusters(std::uint32_t block, std::uint32_t grid, Dim3 cluster) {
  LaunchShape shape = threads(block, grid);
  shape.cluster = cluster;
  return shape;
}

// Puts a launch directive between the parameters and the body.
std::string with_directive(std::string text, const std::string& directive) {
  return text.insert(text.find("words)\n") + 7, directive + "\n");
}

const std::string kRanks = kernel_text(R"(
  mov.u32 r0, %cluster_ctarank;
  mov.u32 r1, %ctaid.x;
  mad.wide.u32 d0, r1, 4, data;
  st.global.u32 [d0], r0;)");

TEST(Clusters, LaunchNamesTheShape) {
  const auto ran = run_text(kRanks, std::vector<std::uint32_t>(6), clusters(1, 6, {3, 1, 1}));
  EXPECT_EQ(ran.words, (std::vector<std::uint32_t>{0, 1, 2, 0, 1, 2}));
}

TEST(Clusters, KernelNamesTheShape) {
  const std::string text = with_directive(kRanks, ".reqnctapercluster 2, 1, 1");
  const auto ran = run_text(text, std::vector<std::uint32_t>(4), threads(1, 4));
  EXPECT_EQ(ran.words, (std::vector<std::uint32_t>{0, 1, 0, 1}));
  const auto fault = fault_of(text, 4, clusters(1, 4, {4, 1, 1}));
  EXPECT_EQ(fault.kind(), FaultKind::kBadLaunch);
  EXPECT_TRUE(says(fault, "compiled for 2 x 1 x 1")) << fault.what();
}

TEST(Clusters, ShapesThatCannotBe) {
  EXPECT_TRUE(says(fault_of(kRanks, 6, clusters(1, 6, {4, 1, 1})), "no whole number of clusters"));
  EXPECT_TRUE(says(fault_of(kRanks, 34, clusters(1, 34, {17, 1, 1})), "at most 16"));
  EXPECT_TRUE(says(fault_of(kRanks, 6, clusters(1, 6, {2, 0, 1})), "out of range"));
  const std::string small = with_directive(kRanks, ".maxclusterrank 2");
  EXPECT_TRUE(says(fault_of(small, 4, clusters(1, 4, {4, 1, 1})), "at most 2"));
  const std::string wanting = with_directive(kRanks, ".explicitcluster");
  EXPECT_TRUE(says(fault_of(wanting, 4, threads(1, 4)), "with a cluster shape"));
}

// Each CTA writes to its neighbour; without a barrier before the end that may be gone.
const char* const kNeighbour = R"(
  .shared .align 4 .b8 cell[4];
  mov.u32 r0, %cluster_ctarank;
  mov.u32 r1, cell;
  xor.b32 r2, r0, 1;
  mapa.shared::cluster.u32 r3, r1, r2;
  st.shared::cluster.u32 [r3], r0;
)";

TEST(Clusters, MemoryOfAnExitedCta) {
  const auto fault = fault_of(kernel_text(kNeighbour), 1, clusters(32, 2, {2, 1, 1}));
  EXPECT_EQ(fault.kind(), FaultKind::kOutOfBounds);
  EXPECT_TRUE(says(fault, "CTA 0 of the cluster has exited")) << fault.what();
  const std::string kept =
      std::string(kNeighbour) + "barrier.cluster.arrive;\nbarrier.cluster.wait;\n";
  EXPECT_NO_THROW(run_text(kernel_text(kept), {0}, clusters(32, 2, {2, 1, 1})));
}

TEST(Clusters, RankBeyondTheCluster) {
  const auto fault = fault_of(kernel_text(kNeighbour), 1, threads(32, 1));
  EXPECT_TRUE(says(fault, "CTA 1 of a cluster of 1")) << fault.what();
}

TEST(Clusters, OwnSharedMemoryOnly) {
  const std::string body = R"(
    .shared .align 4 .b8 cell[4];
    mov.u32 r1, cell;
    xor.b32 r1, r1, 0x1000000;
    ld.shared.u32 r2, [r1];
    barrier.cluster.arrive;
    barrier.cluster.wait;)";
  const auto fault = fault_of(kernel_text(body), 1, clusters(32, 2, {2, 1, 1}));
  EXPECT_TRUE(says(fault, "CTA 1 of the cluster, seen from CTA 0")) << fault.what();
}

TEST(Clusters, BarrierMisuse) {
  const auto twice =
      fault_of(kernel_text("barrier.cluster.arrive;\nbarrier.cluster.arrive;\n"), 1, threads(64));
  EXPECT_EQ(twice.kind(), FaultKind::kBarrier);
  EXPECT_TRUE(says(twice, "twice")) << twice.what();
  const auto never = fault_of(kernel_text("barrier.cluster.wait;\n"), 1, threads(32));
  EXPECT_TRUE(says(never, "has not arrived")) << never.what();
}

TEST(Clusters, DeadlockShowsTheBarrierOfTheCluster) {
  const auto fault = fault_of(kernel_text(R"(
    mov.u32 r0, %cluster_ctarank;
    setp.ne.u32 p, r0, 0;
    @p bra OTHER;
    barrier.cluster.arrive;
    barrier.cluster.wait;
    bra END;
    OTHER:
    bar.sync 1, 64;
    END:)"),
                              1, clusters(32, 2, {2, 1, 1}));
  // 32 threads wait at a barrier of the CTA for 64, of which there are 32.
  EXPECT_EQ(fault.kind(), FaultKind::kBarrier) << fault.what();
  const auto waiting = fault_of(kernel_text(R"(
    mov.u32 r0, %cluster_ctarank;
    mov.u32 r1, %tid.x;
    setp.lt.u32 p, r1, 32;
    @p bra END;
    setp.ne.u32 p, r0, 0;
    @p bra OTHER;
    barrier.cluster.arrive;
    barrier.cluster.wait;
    bra END;
    OTHER:
    bar.sync 1, 64;
    END:)"),
                                1, clusters(64, 2, {2, 1, 1}));
  EXPECT_EQ(waiting.kind(), FaultKind::kDeadlock);
  EXPECT_TRUE(says(waiting, "barrier of the cluster: 32 of 64 threads")) << waiting.what();
  EXPECT_TRUE(says(waiting, "barrier 1 of CTA 1: 32 of 64 threads")) << waiting.what();
}

TEST(Clusters, SeededOrderOfWarpsGivesTheSameResult) {
  const std::string text = kernel_text(R"(
    .shared .align 4 .b8 cells[256];
    mov.u32 r0, %tid.x;
    mov.u32 r1, cells;
    mad.lo.u32 r2, r0, 4, r1;
    st.shared.u32 [r2], r0;
    bar.sync 0;
    xor.b32 r3, r0, 32;
    mad.lo.u32 r3, r3, 4, r1;
    ld.shared.u32 r4, [r3];
    mad.wide.u32 d0, r0, 4, data;
    st.global.u32 [d0], r4;)");
  std::vector<std::uint32_t> expected;
  for (std::uint32_t i = 0; i < 64; ++i) expected.push_back(i ^ 32);
  for (std::uint64_t seed : {0, 1, 2, 3}) {
    MachineOptions options;
    options.observation.warp_order_seed = seed;
    EXPECT_EQ(run_text(text, std::vector<std::uint32_t>(64), threads(64), options).words, expected);
  }
}

// Warp 0 finds the mark of warp 1 in one order, and not in the other.
TEST(Clusters, SeedChangesTheOrderOfWarps) {
  const std::string text = kernel_text(R"(
    mov.u32 r0, %tid.x;
    setp.ge.u32 p, r0, 32;
    @p st.global.u32 [data+4], 7;
    @p bra END;
    ld.global.u32 r1, [data+4];
    st.global.u32 [data], r1;
    END:)");
  int seen = 0;
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    MachineOptions options;
    options.observation.warp_order_seed = seed;
    seen += run_text(text, {0, 0}, threads(64), options).words[0] == 7;
  }
  EXPECT_GT(seen, 0);
  EXPECT_LT(seen, 16);
}

}  // namespace
}  // namespace tessera::vgpu
