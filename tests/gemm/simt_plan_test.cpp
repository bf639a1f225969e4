// How a production kernel is planned: which entry the operands' alignment allows, what its tensor
// maps say, what is repacked, and when a second launch adds partials.
#include "catalog/persistent.h"

#include <gtest/gtest.h>

#include <cstring>

#include "kernels/families/simt/params.h"
#include "tests/support/bound_launches.h"

namespace tessera {
namespace {

using gemm::Policy;

struct Config {
  BlockTile block;
  OutputTile thread;
  Majors majors;
  Loads loads;
  constexpr int threads() const { return 256; }
  constexpr int ctas_per_sm() const { return 1; }
  constexpr int shared_bytes() const { return 100000; }
  constexpr TensorBox box(bool along_k, int extent) const {
    return along_k ? TensorBox{block.k, extent, 64} : TensorBox{extent, block.k, 0};
  }
  constexpr TensorBox a_box() const { return box(majors.a == Major::kK, block.m); }
  constexpr TensorBox b_box() const { return box(majors.b == Major::kK, block.n); }
};

// Repeats each variant for each pair of majors, and there for each way to fetch.
template <int variants, int ways>
constexpr ConfigRows<Config, 4 * ways * variants> for_all_majors_and_loads(
    const ConfigRow<Config> (&list)[variants], const Loads (&loads)[ways]) {
  ConfigRows<Config, 4 * ways * variants> table{};
  for (int i = 0; i < table.size(); ++i) {
    table.rows[i] = list[i / (4 * ways)];
    table.rows[i].config.majors = kAllMajors[i / ways % 4];
    table.rows[i].config.loads = loads[i % ways];
  }
  return table;
}

constexpr auto kConfigs =
    for_all_majors_and_loads({{"256x128x16", {{256, 128, 16}, {16, 8}, {}, {}}},
                              {"64x64x16", {{64, 64, 16}, {4, 4}, {}, {}}}},
                             {{Load::kTma, Load::kTma}, {Load::kCpAsync4, Load::kCpAsync4}});

const Kernel& kernel() {
  static const Kernel kernel = catalog::stream_k_kernel("simt_test", "a test", "simt", kConfigs);
  return kernel;
}

Problem row_major(std::int64_t m, std::int64_t n, std::int64_t k, const char* layout = "NN") {
  Problem problem{.m = m, .n = n, .k = k, .order = Order::kRowMajor};
  set_layout(problem, layout);
  return with_default_ld(problem);
}

constexpr Operands kAligned{0x1000, 0x2000, 0x3000, 0x4000};

constexpr DeviceAddress kWorkspace = 0x100000;

gemm::Plan plan_of(const Problem& problem, const gemm::PlanOptions& options, int sms = 132,
                   const Operands& operands = kAligned) {
  gemm::PlanOptions named = options;
  named.kernel = {&kernel(), "256x128x16"};
  return gemm::plan(problem, gemm::alignment_of(operands), {.sms = sms}, named);
}

std::vector<Launch> launches_of(const gemm::Plan& plan) {
  return bound_launches(plan, {kAligned, 1, 1, kWorkspace, plan.workspace_bytes()});
}
std::vector<Launch> launches_of(const Problem& problem, int sms) {
  return launches_of(plan_of(problem, {.repack = Policy::kNever}, sms));
}

std::string entry_for(const Problem& problem, const Operands& operands) {
  return plan_of(problem, {}, 1, operands).row().entry;
}

simt::SimtParams params_of(const Launch& launch) {
  simt::SimtParams params;
  EXPECT_EQ(launch.params.size(), sizeof params);
  std::memcpy(&params, launch.params.data(), sizeof params);
  return params;
}

TEST(SimtPlan, EntriesSayHowTheyFetch) {
  EXPECT_EQ(kernel().rows.size(), 16u);
  EXPECT_EQ(kernel().rows[0].entry, "simt_test__256x128x16_ak_bn_tma");
  EXPECT_EQ(kernel().rows[1].entry, "simt_test__256x128x16_ak_bn_copy");
  EXPECT_EQ(kernel().rows[7].entry, "simt_test__256x128x16_am_bk_copy");
  ASSERT_EQ(kernel().helpers.size(), 3u);
  EXPECT_EQ(kernel().helpers[0].entry, "simt_test__repack");
  EXPECT_EQ(kernel().helpers[0].params, "tessera::passes::RepackParams");
  EXPECT_EQ(kernel().helpers[1].entry, "simt_test__reduce_256x128");
  EXPECT_EQ(kernel().helpers[1].call, "reduce<256,128>");
  EXPECT_EQ(kernel().helpers[2].params, "tessera::simt::SimtParams");
}

// 16 bytes are four floats.
TEST(SimtPlan, AlignmentPicksTheEntry) {
  const std::string tma = "simt_test__256x128x16_ak_bn_tma";
  const std::string copy = "simt_test__256x128x16_ak_bn_copy";
  Problem problem = row_major(64, 128, 16);  // too small for repacking to pay
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

// Column-major is row-major with the operands exchanged: their alignments, too.
TEST(SimtPlan, AlignmentFollowsTheOperandsExchange) {
  const auto entry = [](Order order, const char* layout, gemm::Alignment alignment) {
    Problem problem{.m = 64, .n = 128, .k = 16, .order = order};
    set_layout(problem, layout);
    return gemm::plan(problem, alignment, {.sms = 1},
                      {.kernel = choose_kernels("simt_f32/64x64")[0], .repack = Policy::kNever})
        .row()
        .entry;
  };
  EXPECT_EQ(entry(Order::kRowMajor, "TN", {.a = 4}), "simt_f32__64x64_am_bn_copy_tma");
  EXPECT_EQ(entry(Order::kRowMajor, "TN", {.b = 4}), "simt_f32__64x64_am_bn_tma_copy");
  EXPECT_EQ(entry(Order::kColumnMajor, "NT", {.a = 4}), "simt_f32__64x64_am_bn_tma_copy");
  EXPECT_EQ(entry(Order::kColumnMajor, "NT", {.b = 8}), "simt_f32__64x64_am_bn_copy_tma");
}

TEST(SimtPlan, MatricesTooLargeForATensorMapAreCopied) {
  Problem problem = row_major(2, 128, 16);
  problem.lda = std::int64_t{1} << 37;
  EXPECT_TRUE(entry_for(problem, kAligned).ends_with("_tma"));
  problem.lda = std::int64_t{1} << 38;  // 2^40 bytes
  EXPECT_TRUE(entry_for(problem, kAligned).ends_with("_copy"));
  EXPECT_TRUE(entry_for(row_major(1, 16, std::int64_t{1} << 31), kAligned).ends_with("_copy"));
}

TEST(SimtPlan, TensorMapsFollowTheSides) {
  const std::vector<Launch> launches = launches_of(row_major(300, 200, 64, "NN"), 132);
  ASSERT_EQ(launches[0].tensor_maps.size(), 2u);
  const LaunchTensorMap& a = launches[0].tensor_maps[0];
  const LaunchTensorMap& b = launches[0].tensor_maps[1];
  EXPECT_EQ(a.offset, 0u);
  EXPECT_EQ(b.offset, 128u);
  EXPECT_EQ(a.desc.address, kAligned.a);
  EXPECT_EQ(b.desc.address, kAligned.b);
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

  const std::vector<Launch> transposed = launches_of(row_major(300, 200, 64, "TT"), 132);
  EXPECT_EQ(transposed[0].tensor_maps[0].desc.sizes[0], 300u);
  EXPECT_EQ(transposed[0].tensor_maps[1].desc.sizes[0], 64u);
  for (const Launch& launch : launches) {
    for (const LaunchTensorMap& map : launch.tensor_maps) EXPECT_TRUE(check(map.desc).ok());
  }
}

gemm::PlanOptions options_with(Policy repack, std::int64_t limit = 1 << 30) {
  return {.workspace_limit = limit, .split = Policy::kNever, .repack = repack};
}

passes::RepackParams repacks_of(const std::vector<Launch>& launches) {
  passes::RepackParams repacks;
  EXPECT_EQ(launches[0].entry, "simt_test__repack");
  EXPECT_EQ(launches[0].params.size(), sizeof repacks);
  std::memcpy(&repacks, launches[0].params.data(), sizeof repacks);
  return repacks;
}

// The bytes of scratch tiles of the first tile size, one per CTA.
std::int64_t scratch_bytes(const simt::SimtParams& params) {
  return std::int64_t{params.schedule.ctas} * 256 * 128 * 4;
}

// A is contiguous along k, B as tensor copies like it: one is repacked, and the product reads what
// is left.
TEST(SimtPlan, OperandsAlongKAreRepackedWhereItPays) {
  const gemm::Plan plan = plan_of(row_major(300, 200, 64, "NN"), options_with(Policy::kAlways));
  EXPECT_EQ(plan.row().entry, "simt_test__256x128x16_am_bn_tma");
  const std::vector<Launch> launches = launches_of(plan);
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_TRUE(launches[1].shape.starts_early);
  // After a scratch tile for each CTA.
  const simt::SimtParams params = params_of(launches[1]);
  EXPECT_EQ(reinterpret_cast<DeviceAddress>(params.scratch), kWorkspace);
  const DeviceAddress repacked = kWorkspace + scratch_bytes(params);
  EXPECT_EQ(plan.workspace_bytes(), scratch_bytes(params) + 320 * 64 * 4);
  const passes::RepackParams repacks = repacks_of(launches);
  EXPECT_EQ(repacks.b.tiles, 0);
  EXPECT_EQ(repacks.b.to, nullptr);
  EXPECT_EQ(repacks.a.tiles, 10);  // of 32 x 64
  EXPECT_EQ(launches[0].shape.grid, 10);
  EXPECT_EQ(repacks.a.ld, 320);
  EXPECT_EQ(reinterpret_cast<DeviceAddress>(repacks.a.from), kAligned.a);
  EXPECT_EQ(reinterpret_cast<DeviceAddress>(repacks.a.to), repacked);
  EXPECT_EQ(reinterpret_cast<DeviceAddress>(params.gemm.a), repacked);
  EXPECT_EQ(params.gemm.a_row, 1);
  EXPECT_EQ(params.gemm.a_col, 320);
  EXPECT_EQ(reinterpret_cast<DeviceAddress>(params.gemm.b), kAligned.b);
  EXPECT_EQ(launches[1].tensor_maps[0].desc.address, repacked);
  EXPECT_EQ(launches[1].tensor_maps[0].desc.sizes[0], 300u) << "not its padding";
}

TEST(SimtPlan, OperandsThatAreNotAlignedAreRepackedToo) {
  Problem problem = row_major(300, 200, 64, "TN");
  problem.lda = 301;
  problem.ldb = 203;
  const std::vector<Launch> launches = launches_of(plan_of(problem, options_with(Policy::kAlways)));
  const passes::RepackParams repacks = repacks_of(launches);
  const std::int64_t scratch = scratch_bytes(params_of(launches[1]));
  EXPECT_EQ(repacks.a.from_k, 301);
  EXPECT_EQ(repacks.b.from_k, 203);
  EXPECT_EQ(reinterpret_cast<DeviceAddress>(repacks.b.to), kWorkspace + scratch + 320 * 64 * 4);
}

TEST(SimtPlan, RepackingTakesTimeAndRoom) {
  const auto entry = [&](const Problem& problem, const gemm::PlanOptions& options) {
    return plan_of(problem, options).row().entry;
  };
  const gemm::PlanOptions model = options_with(Policy::kModel);
  const Problem large = row_major(4096, 4096, 4096);
  EXPECT_TRUE(entry(row_major(64, 64, 16), model).ends_with("_ak_bn_tma"));
  EXPECT_TRUE(entry(large, model).ends_with("_am_bn_tma"));
  EXPECT_TRUE(entry(large, options_with(Policy::kNever)).ends_with("_ak_bn_tma"));
  EXPECT_TRUE(entry(large, options_with(Policy::kModel, 1 << 25)).ends_with("_ak_bn_tma"))
      << "no room for what is repacked";
  EXPECT_EQ(plan_of(row_major(4096, 4096, 4096, "TN"), model).steps.size(), 1u)
      << "nothing to repack";
}

TEST(SimtPlan, FullWavesAreOneLaunch) {
  const std::vector<Launch> launches = launches_of(row_major(256 * 4, 128 * 3, 4096), 12);
  ASSERT_EQ(launches.size(), 1u);
  EXPECT_EQ(launches[0].shape.grid, 12);
  EXPECT_EQ(launches[0].shape.block, 256);
  EXPECT_EQ(launches[0].shape.shared_bytes, 100000);
  EXPECT_EQ(params_of(launches[0]).gemm.m, 1024);
}

TEST(SimtPlan, PartialsOfSplitTilesAreAddedByASecondLaunch) {
  const gemm::Plan plan = plan_of(row_major(256, 128, 65536), {.repack = Policy::kNever});
  const std::vector<Launch> launches = launches_of(plan);
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_EQ(launches[1].entry, "simt_test__reduce_256x128");
  EXPECT_TRUE(launches[1].shape.starts_early);
  EXPECT_FALSE(launches[0].shape.starts_early);
  const simt::SimtParams params = params_of(launches[1]);
  EXPECT_EQ(reinterpret_cast<DeviceAddress>(params.partials), kWorkspace + scratch_bytes(params));
  EXPECT_EQ(plan.workspace_bytes(),
            scratch_bytes(params) + schedule::slots_of(params.schedule) * 256 * 128 * 4);
  EXPECT_EQ(plan_of(row_major(0, 5, 5), {}).workspace_bytes(), 0);
}

TEST(SimtPlan, WithoutRoomForPartialsNoTileIsSplit) {
  const Problem problem = row_major(256, 128, 65536);
  const std::int64_t bytes = plan_of(problem, {.repack = Policy::kNever}).workspace_bytes();
  const gemm::Plan less =
      plan_of(problem, {.workspace_limit = bytes - 1, .repack = Policy::kNever});
  EXPECT_EQ(launches_of(less).size(), 1u);
  EXPECT_LT(less.workspace_bytes(), bytes);
}

// Another way to load must not split other tiles: the sums would have other bits.
TEST(SimtPlan, TheScheduleDoesNotDependOnAlignment) {
  const Operands odd{0x1004, 0x2004, 0x3000, 0x4000};
  for (const Problem& problem : {row_major(256, 128, 65536), row_major(300, 200, 9000, "NT"),
                                 row_major(4096, 4096, 4096, "TN")}) {
    const gemm::PlanOptions never{.repack = Policy::kNever, .remainder = Policy::kNever};
    const gemm::Plan aligned = plan_of(problem, never);
    const gemm::Plan copying = plan_of(problem, never, 132, odd);
    ASSERT_NE(aligned.row().entry, copying.row().entry);
    EXPECT_EQ(aligned.workspace_bytes(), copying.workspace_bytes());
    EXPECT_GT(aligned.workspace_bytes(), 0);
  }
}

TEST(SimtPlan, RefusesMoreTilesThanItCounts) {
  EXPECT_NO_THROW(plan_of(row_major(1, std::int64_t{1} << 37, 1), {}));
  try {
    plan_of(row_major(1, std::int64_t{1} << 38, 1), {});
    FAIL() << "2^31 tiles were planned";
  } catch (const StatusError& error) {
    EXPECT_EQ(error.status().code, StatusCode::kUnsupported);
    EXPECT_NE(error.status().message.find("2^30 tiles"), std::string::npos);
  }
}

}  // namespace
}  // namespace tessera
