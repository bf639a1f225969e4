// Samples of a grid: which clusters they hold, and how well their counts stand for the whole.
#include "vgpu/exec/sample.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/vgpu/exec/run_ptx.h"

namespace tessera::vgpu {
namespace {

constexpr std::uint32_t kAlone[3] = {1, 1, 1};

double sum_of_weights(const ClusterSample& sample) {
  double sum = 0;
  for (std::uint64_t i = 0; i < sample.size(); ++i) sum += sample[i].weight;
  return sum;
}

TEST(Sample, OfNothingOrEverythingIsTheWholeGrid) {
  const std::uint32_t grid[3] = {7, 5, 1};
  for (const std::uint64_t wanted : {std::uint64_t{0}, std::uint64_t{35}, std::uint64_t{99}}) {
    const ClusterSample all(grid, kAlone, wanted, 1);
    EXPECT_FALSE(all.is_partial());
    EXPECT_EQ(all.size(), 35u);
    EXPECT_EQ(all[34].index, 34u);
    EXPECT_EQ(all[34].weight, 1);
  }
}

TEST(Sample, HoldsTheCornersAndSomeOfTheRim) {
  const std::uint32_t grid[3] = {40, 30, 1};
  const ClusterSample sample(grid, kAlone, 64, 1);
  ASSERT_TRUE(sample.is_partial());
  EXPECT_EQ(sample.size(), 64u);
  EXPECT_NEAR(sum_of_weights(sample), 1200, 1e-6);
  std::set<std::uint64_t> drawn;
  std::size_t rim = 0;
  for (std::uint64_t i = 0; i < sample.size(); ++i) {
    const std::uint64_t x = sample[i].index % 40, y = sample[i].index / 40;
    drawn.insert(sample[i].index);
    rim += x == 0 || x == 39 || y == 0 || y == 29;
  }
  EXPECT_EQ(drawn.size(), 64u) << "no cluster runs twice";
  for (const std::uint64_t corner : {0, 39, 29 * 40, 29 * 40 + 39}) {
    EXPECT_EQ(drawn.count(corner), 1u) << corner;
  }
  EXPECT_EQ(rim, 4u + 16);
}

TEST(Sample, OfALinearGridHoldsBothEnds) {
  const std::uint32_t grid[3] = {1000, 1, 1};
  const ClusterSample sample(grid, kAlone, 32, 7);
  EXPECT_EQ(sample[0].index, 0u);
  EXPECT_EQ(sample[1].index, 999u);
  EXPECT_EQ(sample[0].weight, 1);
  EXPECT_NEAR(sum_of_weights(sample), 1000, 1e-6);
}

TEST(Sample, DependsOnItsSeedAlone) {
  const std::uint32_t grid[3] = {1000, 1, 1};
  const ClusterSample a(grid, kAlone, 32, 7), b(grid, kAlone, 32, 7), c(grid, kAlone, 32, 8);
  bool differs = false;
  for (std::uint64_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].index, b[i].index);
    differs = differs || a[i].index != c[i].index;
  }
  EXPECT_TRUE(differs);
}

TEST(Sample, ClustersAreDrawnWhole) {
  const std::uint32_t grid[3] = {64, 6, 1}, pairs[3] = {2, 3, 1};
  const ClusterSample sample(grid, pairs, 16, 1);
  EXPECT_EQ(sample.total(), 64u);
  for (std::uint64_t i = 0; i < sample.size(); ++i) {
    const std::uint64_t x = sample[i].first_cta % 64, y = sample[i].first_cta / 64;
    EXPECT_EQ(x % 2, 0u);
    EXPECT_EQ(y % 3, 0u);
    EXPECT_EQ(sample[i].index, x / 2 + 32 * (y / 3));
    EXPECT_EQ(sample.with_first_cta(sample[i].first_cta).weight, sample[i].weight);
  }
}

// Each CTA reads a row that eight CTAs share, and writes one of its own; the last one does nothing.
LaunchReport run_rows(std::uint64_t sample_ctas, int host_threads = 1) {
  MachineOptions options;
  options.host_threads = host_threads;
  options.observation.memory = true;
  options.observation.sample_ctas = sample_ctas;
  return run_text(kernel_text(R"(
    mov.u32 r1, %ctaid.x;
    mov.u32 r3, %tid.x;
    setp.eq.u32 p, r1, 511;
    @p bra END;
    and.b32 r2, r1, 63;
    mad.lo.u32 r4, r2, 128, r3;
    mad.wide.u32 d0, r4, 4, data;
    ld.global.u32 r5, [d0];
    add.u32 r6, r1, 64;
    mad.lo.u32 r4, r6, 128, r3;
    mad.wide.u32 d0, r4, 4, data;
    st.global.u32 [d0], r5;
    END:)"),
                  std::vector<std::uint32_t>(576 * 128), threads(128, 512), options)
      .report;
}

TEST(Sample, CountsAreScaledToTheWhole) {
  const LaunchReport whole = run_rows(0), part = run_rows(96);
  EXPECT_FALSE(whole.sample.is_partial());
  ASSERT_TRUE(part.sample.is_partial());
  EXPECT_EQ(part.sample.clusters, 512u);
  EXPECT_EQ(part.sample.ran, 96u);
  EXPECT_EQ(part.memory.loads.global.sectors, whole.memory.loads.global.sectors);
  EXPECT_EQ(part.memory.stores.global.requests, whole.memory.stores.global.requests);
  EXPECT_EQ(part.warp_instructions, whole.warp_instructions);
  EXPECT_EQ(part.memory.footprint.cluster_read_sectors, 511u * 16);
}

TEST(Sample, TheFootprintIsEstimatedByTheOverlapOfTwoHalves) {
  const LaunchReport whole = run_rows(0), part = run_rows(96);
  EXPECT_FALSE(whole.memory.footprint.estimated);
  EXPECT_EQ(whole.memory.footprint.read_sectors, 64u * 16);
  EXPECT_EQ(whole.memory.footprint.written_sectors, 511u * 16);
  EXPECT_TRUE(part.memory.footprint.estimated);
  const auto near = [](std::uint64_t got, std::uint64_t want) {
    EXPECT_NEAR(static_cast<double>(got), static_cast<double>(want), 0.15 * double(want));
  };
  near(part.memory.footprint.read_sectors, whole.memory.footprint.read_sectors);
  near(part.memory.footprint.written_sectors, whole.memory.footprint.written_sectors);
}

TEST(Sample, DoesNotDependOnHostThreads) {
  const LaunchReport one = run_rows(96, 1), two = run_rows(96, 2);
  EXPECT_EQ(one.warp_instructions, two.warp_instructions);
  EXPECT_EQ(one.memory.loads.global.sectors, two.memory.loads.global.sectors);
  EXPECT_EQ(one.memory.footprint.read_sectors, two.memory.footprint.read_sectors);
  EXPECT_EQ(one.memory.footprint.cluster_read_sectors, two.memory.footprint.cluster_read_sectors);
}

}  // namespace
}  // namespace tessera::vgpu
