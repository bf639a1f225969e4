// How a production kernel is planned: which entry the operands' alignment allows, what its tensor
// maps say, and when a second launch adds parts.
#include "catalog/persistent.h"

#include <gtest/gtest.h>

#include <cstring>

#include "kernels/simt/params.h"

namespace tessera {
namespace {

struct Config {
  BlockTile block;
  OutputTile thread;
  Sides sides;
  Fetches fetches;
  constexpr int threads() const { return 256; }
  constexpr int min_blocks() const { return 1; }
  constexpr int shared_bytes() const { return 100000; }
  constexpr TensorBox box(bool along_k, int extent) const {
    return along_k ? TensorBox{block.k, extent, 64} : TensorBox{extent, block.k, 0};
  }
  constexpr TensorBox a_box() const { return box(sides.a == Contiguous::kK, block.m); }
  constexpr TensorBox b_box() const { return box(sides.b == Contiguous::kK, block.n); }
};

// Repeats each variant for each pair of contiguous sides, and there for each way to fetch.
template <int variants, int ways>
constexpr ConfigRows<Config, 4 * ways * variants> for_all_sides_and_fetches(
    const ConfigRow<Config> (&list)[variants], const Fetches (&fetches)[ways]) {
  ConfigRows<Config, 4 * ways * variants> table{};
  for (int i = 0; i < table.size(); ++i) {
    table.rows[i] = list[i / (4 * ways)];
    table.rows[i].config.sides = kAllSides[i / ways % 4];
    table.rows[i].config.fetches = fetches[i % ways];
  }
  return table;
}

constexpr auto kRows =
    for_all_sides_and_fetches({{"256x128x16", {{256, 128, 16}, {16, 8}, {}, {}}},
                               {"64x64x16", {{64, 64, 16}, {4, 4}, {}, {}}}},
                              {{Fetch::kTensor, Fetch::kTensor}, {Fetch::kCopy4, Fetch::kCopy4}});

const Kernel& kernel() {
  static const Kernel kernel = catalog::stream_k_kernel("simt_test", "a test", "simt", kRows);
  return kernel;
}

Problem row_major(std::int64_t m, std::int64_t n, std::int64_t k, const char* layout = "NN") {
  Problem problem{.m = m, .n = n, .k = k, .order = Order::kRowMajor};
  set_layout(problem, layout);
  return with_default_ld(problem);
}

constexpr Operands kAligned{0x1000, 0x2000, 0x3000, 0x4000};

std::string entry_for(const Problem& problem, const Operands& operands) {
  return row_for(kernel(), "256x128x16", problem, operands).entry;
}

Plan plan_of(const Problem& problem, int multiprocessors, const char* variant = "256x128x16") {
  const PlanContext context{
      .multiprocessors = multiprocessors, .workspace = 0x100000, .options = {.turn = When::kNever}};
  const KernelRow& row = row_for(kernel(), variant, problem, kAligned, context);
  return kernel().plan(row, problem, kAligned, context);
}

simt::SimtParams params_of(const Launch& launch) {
  simt::SimtParams params;
  EXPECT_EQ(launch.params.size(), sizeof params);
  std::memcpy(&params, launch.params.data(), sizeof params);
  return params;
}

TEST(Persistent, EntriesSayHowTheyFetch) {
  EXPECT_EQ(kernel().rows.size(), 16u);
  EXPECT_EQ(kernel().rows[0].entry, "simt_test__256x128x16_ak_bn_tma");
  EXPECT_EQ(kernel().rows[1].entry, "simt_test__256x128x16_ak_bn_copy");
  EXPECT_EQ(kernel().rows[7].entry, "simt_test__256x128x16_am_bk_copy");
  ASSERT_EQ(kernel().helpers.size(), 3u);
  EXPECT_EQ(kernel().helpers[0].entry, "simt_test__turn");
  EXPECT_EQ(kernel().helpers[0].params, "tessera::simt::TurnParams");
  EXPECT_EQ(kernel().helpers[1].entry, "simt_test__add_256x128");
  EXPECT_EQ(kernel().helpers[1].call, "add_parts<256, 128>");
  EXPECT_EQ(kernel().helpers[2].params, "tessera::simt::SimtParams");
}

// 16 bytes are four floats.
TEST(Persistent, AlignmentPicksTheEntry) {
  const std::string tma = "simt_test__256x128x16_ak_bn_tma";
  const std::string copy = "simt_test__256x128x16_ak_bn_copy";
  Problem problem = row_major(64, 128, 16);  // too small for turning to pay
  EXPECT_EQ(entry_for(problem, kAligned), tma);
  EXPECT_EQ(entry_for(problem, {}), tma) << "an unknown address is taken for an aligned one";
  EXPECT_EQ(entry_for(problem, {0x1004, 0x2000, 0x3000, 0x4000}), copy);
  EXPECT_EQ(entry_for(problem, {0x1000, 0x2008, 0x3000, 0x4000}), copy);
  EXPECT_EQ(entry_for(problem, {0x1000, 0x2000, 0x3004, 0x4004}), tma) << "C and D do not matter";
  problem.lda = 33;
  EXPECT_EQ(entry_for(problem, kAligned), copy);
  problem.lda = 36;
  EXPECT_EQ(entry_for(problem, kAligned), tma);
  problem.alpha = 0;
  EXPECT_EQ(entry_for(problem, {}), copy) << "nothing is read, so nothing can be mapped";
}

TEST(Persistent, MatricesTooLargeForATensorMapAreCopied) {
  Problem problem = row_major(2, 128, 16);
  problem.lda = std::int64_t{1} << 37;
  EXPECT_TRUE(entry_for(problem, kAligned).ends_with("_tma"));
  problem.lda = std::int64_t{1} << 38;  // 2^40 bytes
  EXPECT_TRUE(entry_for(problem, kAligned).ends_with("_copy"));
  EXPECT_TRUE(entry_for(row_major(1, 16, std::int64_t{1} << 31), kAligned).ends_with("_copy"));
}

TEST(Persistent, TensorMapsFollowTheSides) {
  const Plan plan = plan_of(row_major(300, 200, 64, "NN"), 132);
  ASSERT_EQ(plan.launches[0].tensor_maps.size(), 2u);
  const LaunchTensorMap& a = plan.launches[0].tensor_maps[0];
  const LaunchTensorMap& b = plan.launches[0].tensor_maps[1];
  EXPECT_EQ(a.offset, 0u);
  EXPECT_EQ(b.offset, 128u);
  EXPECT_EQ(a.desc.address, kAligned.a);
  EXPECT_EQ(a.desc.sizes[0], 64u);  // A is contiguous along k
  EXPECT_EQ(a.desc.sizes[1], 300u);
  EXPECT_EQ(a.desc.strides[0], 64u * 4);
  EXPECT_EQ(a.desc.box[0], 16u);
  EXPECT_EQ(a.desc.box[1], 256u);
  EXPECT_EQ(a.desc.swizzle, TensorSwizzle::k64B);
  EXPECT_EQ(b.desc.sizes[0], 200u);  // and B along n
  EXPECT_EQ(b.desc.sizes[1], 64u);
  EXPECT_EQ(b.desc.box[0], 128u);
  EXPECT_EQ(b.desc.swizzle, TensorSwizzle::kNone);

  const Plan turned = plan_of(row_major(300, 200, 64, "TT"), 132);
  EXPECT_EQ(turned.launches[0].tensor_maps[0].desc.sizes[0], 300u);
  EXPECT_EQ(turned.launches[0].tensor_maps[1].desc.sizes[0], 64u);
  for (const Launch& launch : plan.launches) {
    for (const LaunchTensorMap& map : launch.tensor_maps) EXPECT_TRUE(check(map.desc).ok());
  }
}

PlanContext context_with(When turn, std::int64_t bytes = 1 << 30) {
  return {132, 0x100000, bytes, {.cut = When::kNever, .turn = turn}};
}

simt::TurnParams turns_of(const Plan& plan) {
  simt::TurnParams turns;
  EXPECT_EQ(plan.launches[0].entry, "simt_test__turn");
  EXPECT_EQ(plan.launches[0].params.size(), sizeof turns);
  std::memcpy(&turns, plan.launches[0].params.data(), sizeof turns);
  return turns;
}

// Of the first tile size: one a CTA.
std::int64_t scratch_bytes(const simt::SimtParams& params) {
  return std::int64_t{params.schedule.ctas} * 256 * 128 * 4;
}

// A stands along k, B as tensor copies like it: one is turned, and the product reads what is left.
TEST(Persistent, OperandsAlongKAreTurnedWhereItPays) {
  const Problem problem = row_major(300, 200, 64, "NN");
  const PlanContext context = context_with(When::kAlways);
  const KernelRow& row = row_for(kernel(), "256x128x16", problem, kAligned, context);
  EXPECT_EQ(row.entry, "simt_test__256x128x16_am_bn_tma");
  const Plan plan = kernel().plan(row, problem, kAligned, context);
  ASSERT_EQ(plan.launches.size(), 2u);
  EXPECT_TRUE(plan.launches[1].starts_early);
  // Behind a scratch tile for each CTA.
  const simt::SimtParams params = params_of(plan.launches[1]);
  EXPECT_EQ(reinterpret_cast<DeviceAddress>(params.scratch), 0x100000u);
  const DeviceAddress turned = 0x100000u + scratch_bytes(params);
  EXPECT_EQ(kernel().workspace_bytes(row, problem, context), scratch_bytes(params) + 320 * 64 * 4);
  const simt::TurnParams turns = turns_of(plan);
  EXPECT_EQ(turns.b.tiles, 0);
  EXPECT_EQ(turns.a.tiles, 10);  // of 32 x 64
  EXPECT_EQ(plan.launches[0].shape.grid, 10);
  EXPECT_EQ(turns.a.ld, 320);
  EXPECT_EQ(reinterpret_cast<DeviceAddress>(turns.a.to), turned);
  EXPECT_EQ(reinterpret_cast<DeviceAddress>(params.gemm.a), turned);
  EXPECT_EQ(params.gemm.a_row, 1);
  EXPECT_EQ(params.gemm.a_col, 320);
  EXPECT_EQ(reinterpret_cast<DeviceAddress>(params.gemm.b), kAligned.b);
  EXPECT_EQ(plan.launches[1].tensor_maps[0].desc.address, turned);
  EXPECT_EQ(plan.launches[1].tensor_maps[0].desc.sizes[0], 300u) << "not its padding";
}

TEST(Persistent, OperandsThatAreNotAlignedAreTurnedToo) {
  Problem problem = row_major(300, 200, 64, "TN");
  problem.lda = 301;
  problem.ldb = 203;
  const PlanContext context = context_with(When::kAlways);
  const KernelRow& row = row_for(kernel(), "256x128x16", problem, kAligned, context);
  const Plan plan = kernel().plan(row, problem, kAligned, context);
  const simt::TurnParams turns = turns_of(plan);
  const std::int64_t scratch = scratch_bytes(params_of(plan.launches[1]));
  EXPECT_EQ(turns.a.from_k, 301);
  EXPECT_EQ(turns.b.from_k, 203);
  EXPECT_EQ(reinterpret_cast<DeviceAddress>(turns.b.to), 0x100000u + scratch + 320 * 64 * 4);
}

TEST(Persistent, TurningTakesTimeAndRoom) {
  const auto entry = [&](const Problem& problem, const PlanContext& context) {
    return row_for(kernel(), "256x128x16", problem, kAligned, context).entry;
  };
  const PlanContext model = context_with(When::kModel);
  EXPECT_TRUE(entry(row_major(64, 64, 16), model).ends_with("_ak_bn_tma"));
  EXPECT_TRUE(entry(row_major(4096, 4096, 4096), model).ends_with("_am_bn_tma"));
  EXPECT_TRUE(
      entry(row_major(4096, 4096, 4096), context_with(When::kNever)).ends_with("_ak_bn_tma"));
  EXPECT_TRUE(entry(row_major(4096, 4096, 4096), context_with(When::kModel, 1 << 20))
                  .ends_with("_ak_bn_tma"))
      << "no room for what is turned";
  EXPECT_EQ(
      kernel()
          .plan(row_for(kernel(), "256x128x16", row_major(4096, 4096, 4096, "TN"), kAligned, model),
                row_major(4096, 4096, 4096, "TN"), kAligned, model)
          .launches.size(),
      1u)
      << "nothing to turn";
}

TEST(Persistent, FullWavesAreOneLaunch) {
  const Plan plan = plan_of(row_major(256 * 4, 128 * 3, 4096), 12);
  ASSERT_EQ(plan.launches.size(), 1u);
  EXPECT_EQ(plan.launches[0].shape.grid, 12);
  EXPECT_EQ(plan.launches[0].shape.block, 256);
  EXPECT_EQ(plan.launches[0].shape.shared_bytes, 100000);
  EXPECT_EQ(params_of(plan.launches[0]).gemm.m, 1024);
}

TEST(Persistent, CutTilesAreAddedByASecondLaunch) {
  const Problem problem = row_major(256, 128, 65536);
  const Plan plan = plan_of(problem, 132);
  ASSERT_EQ(plan.launches.size(), 2u);
  EXPECT_EQ(plan.launches[1].entry, "simt_test__add_256x128");
  EXPECT_TRUE(plan.launches[1].starts_early);
  EXPECT_FALSE(plan.launches[0].starts_early);
  const simt::SimtParams params = params_of(plan.launches[1]);
  EXPECT_EQ(reinterpret_cast<DeviceAddress>(params.parts), 0x100000u + scratch_bytes(params));
  EXPECT_EQ(kernel().workspace_bytes(kernel().rows[0], problem, {.multiprocessors = 132}),
            scratch_bytes(params) + scheduler::slots_of(params.schedule) * 256 * 128 * 4);
  EXPECT_EQ(kernel().workspace_bytes(kernel().rows[0], row_major(0, 5, 5), {}), 0);
}

// Room is asked for before addresses are known; another way to fetch must not cut other tiles.
TEST(Persistent, RoomForPartsDoesNotDependOnAddresses) {
  const PlanContext context{.multiprocessors = 132, .options = {.turn = When::kNever}};
  const Operands odd{0x1004, 0x2004, 0x3000, 0x4000};
  for (const Problem& problem : {row_major(256, 128, 65536), row_major(300, 200, 9000, "NT"),
                                 row_major(4096, 4096, 4096, "TN")}) {
    const KernelRow& unknown = row_for(kernel(), "256x128x16", problem, {}, context);
    const KernelRow& copying = row_for(kernel(), "256x128x16", problem, odd, context);
    ASSERT_NE(unknown.entry, copying.entry);
    const std::int64_t bytes = kernel().workspace_bytes(unknown, problem, context);
    EXPECT_GT(bytes, 0);
    EXPECT_EQ(kernel().workspace_bytes(copying, problem, context), bytes);
  }
}

TEST(Persistent, RefusesMoreTilesThanItCounts) {
  const KernelRow& row = kernel().rows[0];
  EXPECT_TRUE(supports(kernel(), row, row_major(1, std::int64_t{1} << 37, 1)).ok());
  const Status status = supports(kernel(), row, row_major(1, std::int64_t{1} << 38, 1));
  EXPECT_EQ(status.code, StatusCode::kUnsupported);
}

// A plan says nothing about the device: the same inputs give the same bytes.
TEST(Persistent, PlansArePure) {
  const Problem problem = row_major(1000, 900, 800, "TN");
  const Plan first = plan_of(problem, 132), again = plan_of(problem, 132);
  ASSERT_EQ(first.launches.size(), again.launches.size());
  for (std::size_t i = 0; i < first.launches.size(); ++i) {
    EXPECT_EQ(first.launches[i].params, again.launches[i].params);
  }
}

}  // namespace
}  // namespace tessera
