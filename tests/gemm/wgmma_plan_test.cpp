// What a plan for tensor cores hands to the device, and that a mistake in any of it is noticed:
// each test of mistakes changes one number of a plan that is right, and looks at D.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <set>

#include "device/buffer.h"
#include "gemm/call/prepare.h"
#include "kernels/families/wgmma/params.h"
#include "kernels/passes/params.h"
#include "tests/support/kernel_choice.h"
#include "tests/support/test_device.h"

namespace tessera {
namespace {

using wgmma::WgmmaParams;

Problem bf16(std::int64_t m, std::int64_t n, std::int64_t k) {
  return with_default_ld({.m = m, .n = n, .k = k, .types = kBf16Types, .order = Order::kRowMajor});
}

gemm::Plan plan_of(const Problem& problem, const char* kernel = nullptr,
                   const gemm::Alignment& alignment = {}, gemm::PlanOptions options = {}) {
  if (kernel) options.kernel = choose_kernels(kernel).at(0);
  return gemm::plan(problem, alignment, {.sm = 90, .sms = 132}, options);
}

template <class Params>
Params params_of(const gemm::Step& launch) {
  Params params;
  EXPECT_EQ(launch.launch.params.size(), sizeof params);
  std::memcpy(&params, launch.launch.params.data(), sizeof params);
  return params;
}

const gemm::MapPatch& map_at(const gemm::Step& launch, std::size_t offset) {
  for (const gemm::MapPatch& map : launch.maps) {
    if (map.offset == offset) return map;
  }
  throw std::runtime_error("no such map");
}

std::string refusal(const std::function<void()>& f) {
  try {
    f();
  } catch (const StatusError& error) {
    return error.status().message;
  }
  return "";
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(WgmmaPlan, CountsKTilesWithTheirTail) {
  const auto k_tiles = [](std::int64_t k) {
    return params_of<WgmmaParams>(plan_of(bf16(64, 64, k), "wgmma_bf16").steps.back()).k_tiles;
  };
  EXPECT_EQ(k_tiles(0), 0);
  EXPECT_EQ(k_tiles(1), 1);
  EXPECT_EQ(k_tiles(64), 1);
  EXPECT_EQ(k_tiles(65), 2);
  EXPECT_EQ(k_tiles(128), 2);
  EXPECT_EQ(k_tiles(129), 3);
}

TEST(WgmmaPlan, MapsSayWhereRowsBegin) {
  Problem problem = bf16(200, 136, 72);
  problem.lda = 80, problem.ldb = 144, problem.ldc = 152, problem.ldd = 160, problem.beta = 1;
  const gemm::Plan plan = plan_of(problem, "wgmma_bf16");
  ASSERT_EQ(plan.steps.size(), 1u);
  const gemm::Step& launch = plan.steps[0];
  const auto params = params_of<WgmmaParams>(launch);
  EXPECT_EQ(params.gemm.c_row, 152);
  EXPECT_EQ(params.gemm.d_row, 160);
  EXPECT_EQ(params.copied_columns, 136);
  const auto expect_map = [&](std::size_t offset, gemm::Slot slot, std::uint64_t inner,
                              std::uint64_t rows, std::uint64_t stride) {
    const gemm::MapPatch& map = map_at(launch, offset);
    EXPECT_EQ(map.address, (gemm::PlannedAddress{slot, 0}));
    EXPECT_EQ(map.desc.sizes[0], inner);
    EXPECT_EQ(map.desc.sizes[1], rows);
    EXPECT_EQ(map.desc.strides[0], stride * 2);
    EXPECT_EQ(map.desc.type, TensorType::kBf16);
  };
  expect_map(offsetof(WgmmaParams, a_map), gemm::Slot::kA, 72, 200, 80);
  expect_map(offsetof(WgmmaParams, b_map), gemm::Slot::kB, 136, 72, 144);
  expect_map(offsetof(WgmmaParams, d_map), gemm::Slot::kD, 136, 200, 160);
}

TEST(WgmmaPlan, CopiesWholeSixteenBytesOfDAndNothingOfAnUnalignedOne) {
  const auto copied = [](Problem problem, const gemm::Alignment& alignment = {}) {
    const auto plan = plan_of(problem, "wgmma_bf16", alignment);
    const gemm::Step& launch = plan.steps.back();
    const auto params = params_of<WgmmaParams>(launch);
    EXPECT_EQ(launch.maps.size(), params.copied_columns > 0 ? 3u : 2u);
    return params.copied_columns;
  };
  Problem problem = bf16(64, 100, 64);
  problem.ldb = problem.ldd = 104;
  EXPECT_EQ(copied(problem), 96);
  EXPECT_EQ(copied(problem, {.d = 8}), 0);
  problem.ldd = 100;
  EXPECT_EQ(copied(problem), 0);
  problem = bf16(64, 7, 64);
  problem.ldb = problem.ldd = 8;
  EXPECT_EQ(copied(problem), 0);
}

TEST(WgmmaPlan, RepacksWhatTensorCopiesDoNotTake) {
  const auto launches = [](const Problem& problem, const gemm::Alignment& alignment = {}) {
    std::vector<std::string> entries;
    for (const auto& launch : plan_of(problem, "wgmma_bf16", alignment).steps) {
      entries.push_back(launch.launch.entry.substr(0, launch.launch.entry.find("128x")));
    }
    return entries;
  };
  const std::vector<std::string> one = {"wgmma_bf16__"};
  const std::vector<std::string> two = {"wgmma_bf16__repack", "wgmma_bf16__"};
  EXPECT_EQ(launches(bf16(64, 64, 64)), one);
  EXPECT_EQ(launches(bf16(64, 64, 65)), two) << "rows of A are 65 elements";
  EXPECT_EQ(launches(bf16(64, 65, 64)), two);
  EXPECT_EQ(launches(bf16(64, 65, 0)), one) << "nothing is read";
  EXPECT_EQ(launches(bf16(64, 64, 64), {.a = 8}), two);
  EXPECT_EQ(launches(bf16(64, 64, 64), {.b = 2}), two);
  EXPECT_EQ(launches(bf16(64, 64, 64), {.d = 2}), one);
  EXPECT_EQ(launches(bf16(1, 64, 65)), one) << "the stride of one row is nobody's";

  const Problem problem = bf16(64, 72, 65);
  const gemm::Plan plan = plan_of(problem, "wgmma_bf16", {.b = 2});
  const auto repacks = params_of<passes::RepackParams>(plan.steps[0]);
  EXPECT_EQ(repacks.a.outer, 65);
  EXPECT_EQ(repacks.a.k, 64);
  EXPECT_EQ(repacks.a.from_k, 65);
  EXPECT_EQ(repacks.a.ld, 128);
  EXPECT_EQ(repacks.b.ld, 128);
  EXPECT_EQ(plan.workspace_bytes(), (64 + 65) * 128 * 2);
  EXPECT_EQ(plan.steps[0].launch.shape.grid, repacks.a.tiles + repacks.b.tiles);
  EXPECT_FALSE(plan.steps[0].launch.shape.starts_early);
  EXPECT_TRUE(plan.steps[1].launch.shape.starts_early);
  EXPECT_TRUE(says(refusal([&] {
                     plan_of(problem, "wgmma_bf16", {.b = 2},
                             {.workspace_limit = (64 + 65) * 128 * 2 - 1});
                   }),
                   "needs at least 33024"));
  EXPECT_TRUE(
      says(refusal([&] { plan_of(problem, "wgmma_bf16", {}, {.repack = gemm::Policy::kNever}); }),
           "must not be repacked"));
}

// TF32: an operand across k comes from registers, as the kernel's A; of two, one is repacked.
TEST(WgmmaPlan, ExchangesOperandsWhereOnlyBIsAcrossK) {
  struct Expected {
    const char* layout;  // row-major
    std::size_t launches;
    const char* entry;
    int transposed;
    gemm::Slot a;  // the kernel's A
  };
  using gemm::Slot;
  for (const Expected& one :
       {Expected{"NN", 1, "am_bk_tma", 1, Slot::kB}, Expected{"NT", 1, "ak_bk_tma", 0, Slot::kA},
        Expected{"TT", 1, "am_bk_tma", 0, Slot::kA}, Expected{"TN", 2, "am_bk_tma", 1, Slot::kB}}) {
    Problem problem{.m = 256, .n = 512, .k = 320, .types = kTf32Types, .order = Order::kRowMajor};
    set_layout(problem, one.layout);
    const gemm::Plan plan = plan_of(with_default_ld(problem), "wgmma_tf32/128x128x32_s6_pp");
    ASSERT_EQ(plan.steps.size(), one.launches) << one.layout;
    const gemm::Step& launch = plan.steps.back();
    EXPECT_TRUE(launch.launch.entry.ends_with(one.entry)) << launch.launch.entry;
    const auto params = params_of<WgmmaParams>(launch);
    EXPECT_EQ(params.transposed, one.transposed) << one.layout;
    EXPECT_EQ(params.gemm.m, 256) << "of D as it lies";
    EXPECT_EQ(params.raster.tiles_m, one.transposed ? 4 : 2);
    EXPECT_EQ(map_at(launch, offsetof(WgmmaParams, a_map)).address.slot, one.a) << one.layout;
  }
}

// One launch, and maps of three dimensions; operands that all products share have one matrix.
TEST(WgmmaPlan, MapsOfABatchHaveItsProducts) {
  Problem problem = bf16(256, 128, 64);
  problem.batch = {.kind = BatchKind::kStrided,
                   .count = 7,
                   .stride_a = 0,
                   .stride_b = 64 * 128 + 8,
                   .stride_c = 0,
                   .stride_d = 256 * 128};
  const gemm::Plan plan = plan_of(problem, "wgmma_bf16/128x128x64_s6_pp");
  ASSERT_FALSE(plan.offers.front().is_for_each());
  const gemm::Step& launch = plan.steps.back();
  const auto params = params_of<WgmmaParams>(launch);
  EXPECT_EQ(params.products, 7);
  EXPECT_EQ(params.product_a, 0);
  EXPECT_EQ(params.product_b, 1);
  EXPECT_EQ(params.product_d, 256 * 128 * 2);
  EXPECT_EQ(launch.launch.shape.grid, 14);
  EXPECT_EQ(map_at(launch, offsetof(WgmmaParams, a_map)).desc.sizes[2], 1u);
  const TensorMapDesc& b = map_at(launch, offsetof(WgmmaParams, b_map)).desc;
  EXPECT_EQ(b.rank, 3);
  EXPECT_EQ(b.sizes[2], 7u);
  EXPECT_EQ(b.strides[1], (64u * 128 + 8) * 2);
  problem.batch.stride_b += 1;
  EXPECT_TRUE(plan_of(problem, "wgmma_bf16/128x128x64_s6_pp").offers.front().is_for_each());
}

// Parts of k: all of it, each once, their sums in matrices of their own.
TEST(WgmmaPlan, SplitsKWhereTilesAreFew) {
  const Problem problem = bf16(256, 256, 65536);
  const gemm::Plan plan = plan_of(problem);
  ASSERT_EQ(plan.steps.size(), 2u) << plan.row().variant;
  const auto multiply = params_of<WgmmaParams>(plan.steps[0]);
  const auto reduce = params_of<passes::ReduceParts>(plan.steps[1]);
  EXPECT_GT(reduce.parts, 8);
  EXPECT_GE(static_cast<std::int64_t>(multiply.k_tiles) * reduce.parts * plan.row().block.k, 65536);
  EXPECT_LT(static_cast<std::int64_t>(multiply.k_tiles) * (reduce.parts - 1) * plan.row().block.k,
            65536);
  EXPECT_EQ(reduce.part, static_cast<long long>(multiply.rows_per_k_part) * reduce.ld);
  EXPECT_EQ(multiply.gemm.m, static_cast<long long>(multiply.rows_per_k_part) * reduce.parts);
  EXPECT_EQ(multiply.gemm.d_row, reduce.ld);
  EXPECT_EQ(plan.workspace_bytes(), multiply.gemm.m * reduce.ld * 4);
  EXPECT_EQ(multiply.gemm.alpha, 1) << "scales are the second launch's";
  EXPECT_EQ(plan.steps[0].scales.size(), 0u);
  EXPECT_EQ(reduce.gemm.d_row, 256);
  EXPECT_EQ(plan_of(bf16(4096, 4096, 4096)).steps.size(), 1u);
  EXPECT_EQ(plan_of(bf16(64, 64, 64)).steps.size(), 1u);
}

TEST(WgmmaPlan, EveryLegalProblemHasOne) {
  std::set<std::string> variants;
  for (const Types& types : {kBf16Types, kBf16ToF32Types}) {
    for (const char* layout : {"NN", "NT", "TN", "TT"}) {
      for (const std::int64_t m : {0, 1, 63, 4096}) {
        for (const std::int64_t n : {0, 1, 31, 8192}) {
          for (const std::int64_t k : {0, 1, 100, 100001}) {
            for (const double beta : {0.0, 2.0}) {
              Problem problem{.m = m, .n = n, .k = k, .types = types, .beta = beta};
              set_layout(problem, layout);
              const gemm::Plan plan =
                  plan_of(with_default_ld(problem), nullptr, {.a = 2, .b = 2, .c = 2, .d = 2});
              EXPECT_EQ(plan.steps.empty(), m == 0 || n == 0);
              variants.insert(plan.row().variant);
            }
          }
        }
      }
    }
  }
  EXPECT_GE(variants.size(), 5u) << "one shape does not suit all";
}

TEST(WgmmaPlan, OtherGpusAreRefusedWhereTheKernelIsNamed) {
  for (const int sm : {75, 80, 86, 89, 100, 120}) {
    const gemm::DeviceLimits limits{.sm = sm, .sms = 100};
    const std::string named = refusal([&] {
      gemm::plan(bf16(64, 64, 64), {}, limits, {.kernel = choose_kernels("wgmma_bf16").at(0)});
    });
    EXPECT_TRUE(says(named, "wgmma_bf16, whose code needs sm_90a")) << named;
  }
}

TEST(WgmmaPlan, MoreThanTheKernelCountsIsRefused) {
  EXPECT_TRUE(says(refusal([] { plan_of(bf16(1, 1, std::int64_t{3} << 30), "wgmma_bf16"); }),
                   "2^30 elements along each side"));
  EXPECT_TRUE(
      says(refusal([] { plan_of(bf16(1 << 29, 1 << 29, 1), "wgmma_bf16"); }), "2^30 tiles"));
}

// One product of small integers on the device, by a plan that somebody has changed.
class Mistakes : public testing::Test {
 protected:
  static constexpr std::int64_t kM = 70, kN = 72, kK = 200, kPad = 8;

  void SetUp() override {
    problem_ = bf16(kM, kN, kK);
    problem_.lda += kPad, problem_.ldb += kPad, problem_.ldc += 2 * kPad, problem_.ldd += kPad;
    problem_.beta = 1;
    a_ = filled(problem_.lda * kM, 1), b_ = filled(problem_.ldb * kK, 2);
    c_ = filled(problem_.ldc * kM, 3);
  }

  // Bits of BF16: -2 ... 2.
  static std::vector<std::uint16_t> filled(std::int64_t count, int seed) {
    constexpr std::uint16_t kBits[] = {0xc000, 0xbf80, 0, 0x3f80, 0x4000};
    std::vector<std::uint16_t> values;
    auto random = static_cast<std::uint32_t>(seed);
    for (std::int64_t i = 0; i < count; ++i) {
      random = random * 1664525 + 1013904223;
      values.push_back(kBits[(random >> 16) % 5]);
    }
    return values;
  }

  std::vector<std::uint16_t> run(const char* kernel,
                                 const std::function<void(gemm::Plan&)>& change = {},
                                 const gemm::Alignment& alignment = {},
                                 gemm::Policy split = gemm::Policy::kModel) {
    Device& device = test_device();
    gemm::Plan plan = plan_of(problem_, kernel, alignment, {.split = split});
    if (change) change(plan);
    const auto copy = [&](const std::vector<std::uint16_t>& from) {
      DeviceBuffer buffer(device, from.size() * 2);
      device.copy_in(buffer.address(), from.data(), buffer.bytes());
      return buffer;
    };
    const DeviceBuffer a = copy(a_), b = copy(b_), c = copy(c_);
    std::vector<std::uint16_t> d(problem_.ldd * kM, 0x7fff);
    const DeviceBuffer out = copy(d), workspace(device, plan.workspace_bytes());
    const gemm::Prepared prepared = gemm::prepare(device, std::move(plan));
    gemm::execute(prepared, {{a.address(), b.address(), c.address(), out.address()},
                             1,
                             1,
                             workspace.address(),
                             static_cast<std::int64_t>(workspace.bytes())});
    device.synchronize();
    device.copy_out(d.data(), out.address(), out.bytes());
    return d;
  }

  // Changes the parameters of a launch of this kind.
  template <class Params>
  static std::function<void(gemm::Plan&)> with(std::size_t launch,
                                               const std::function<void(Params&)>& change) {
    return [=](gemm::Plan& plan) {
      auto params = params_of<Params>(plan.steps.at(launch));
      change(params);
      std::memcpy(plan.steps[launch].launch.params.data(), &params, sizeof params);
    };
  }

  Problem problem_;
  std::vector<std::uint16_t> a_, b_, c_;
};

TEST_F(Mistakes, AreNoticedInTheProduct) {
  const auto right = run("wgmma_bf16");
  EXPECT_EQ(run("wgmma_bf16"), right) << "the same bits in every run";
  EXPECT_EQ(run("wgmma_bf16/64x128*"), right) << "small integers: the same in every variant";
  EXPECT_EQ(run("wgmma_bf16", {}, {.d = 2}), right) << "stored row by row";
  const auto expect_noticed = [&](const char* what,
                                  const std::function<void(gemm::Plan&)>& change) {
    EXPECT_NE(run("wgmma_bf16", change), right) << what;
  };
  expect_noticed("a k tile too few", with<WgmmaParams>(0, [](auto& p) { --p.k_tiles; }));
  expect_noticed("beta ignored", [](gemm::Plan& plan) {
    std::erase_if(plan.steps[0].scales,
                  [](const gemm::ScalePatch& patch) { return patch.scale == gemm::Scale::kBeta; });
    with<WgmmaParams>(0, [](auto& p) { p.gemm.beta = 0; })(plan);
  });
  expect_noticed("C by D's stride",
                 with<WgmmaParams>(0, [](auto& p) { p.gemm.c_row = p.gemm.d_row; }));
  const auto map = [](std::size_t offset, const std::function<void(TensorMapDesc&)>& change) {
    return [=](gemm::Plan& plan) {
      for (gemm::MapPatch& patch : plan.steps[0].maps) {
        if (patch.offset == offset) change(patch.desc);
      }
    };
  };
  for (const std::size_t offset :
       {offsetof(WgmmaParams, a_map), offsetof(WgmmaParams, b_map), offsetof(WgmmaParams, d_map)}) {
    expect_noticed("a row too short", map(offset, [](auto& desc) { desc.strides[0] -= 16; }));
    expect_noticed("a row too few", map(offset, [](auto& desc) { --desc.sizes[1]; }));
    if (offset == offsetof(WgmmaParams, d_map)) continue;  // 16 bytes are written whole
    expect_noticed("a column too few", map(offset, [](auto& desc) { --desc.sizes[0]; }));
  }
  expect_noticed("a raster without its last row",
                 with<WgmmaParams>(0, [](auto& p) { --p.raster.tiles_n; }));
}

TEST_F(Mistakes, AreNoticedInPartsOfK) {
  const char* kernel = "wgmma_bf16/128x128*split";
  const auto right = run("wgmma_bf16");
  const auto split = [&](const std::function<void(gemm::Plan&)>& change) {
    return run(kernel, change, {}, gemm::Policy::kAlways);
  };
  EXPECT_EQ(split({}), right);
  EXPECT_NE(split(with<passes::ReduceParts>(1, [](auto& p) { --p.parts; })), right);
  EXPECT_NE(split(with<passes::ReduceParts>(1, [](auto& p) { p.part -= p.ld; })), right);
  EXPECT_NE(split(with<passes::ReduceParts>(1, [](auto& p) { p.gemm.c_row = p.gemm.d_row; })),
            right);
  EXPECT_NE(split(with<WgmmaParams>(0, [](auto& p) { p.rows_per_k_part += 64; })), right);
}

TEST_F(Mistakes, AreNoticedInRepackedOperands) {
  const auto right = run("wgmma_bf16");
  const auto repacked = [&](const std::function<void(gemm::Plan&)>& change) {
    return run("wgmma_bf16", change, {.a = 2, .b = 2});
  };
  EXPECT_EQ(repacked({}), right);
  EXPECT_NE(repacked(with<passes::RepackParams>(0, [](auto& p) { --p.a.from_k; })), right);
  EXPECT_NE(repacked(with<passes::RepackParams>(0, [](auto& p) { p.b.outer -= 8; })), right);
  EXPECT_NE(repacked([](gemm::Plan& plan) { plan.steps[1].maps[0].desc.strides[0] += 16; }), right);
}

}  // namespace
}  // namespace tessera
