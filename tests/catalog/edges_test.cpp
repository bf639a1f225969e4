// Regions of a product cover each output once, stand apart in the workspace, and are planned where
// the model expects that to pay.
#include "catalog/edges.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "catalog/persistent.h"
#include "kernels/simt/params.h"

namespace tessera {
namespace {

using catalog::Region;

constexpr Operands kAligned{0x10000000, 0x20000000, 0x30000000, 0x40000000};
constexpr DeviceAddress kWorkspace = 0x50000000;

const Kernel& kernel() { return *choose_kernels("simt_f32").front().kernel; }

// Row-major, so that m and n are those of the kernel.
Problem row_major(std::int64_t m, std::int64_t n, std::int64_t k, const char* layout = "TN") {
  Problem problem{.m = m, .n = n, .k = k, .order = Order::kRowMajor};
  set_layout(problem, layout);
  return with_default_ld(problem);
}

PlanContext context_with(When edges, When cut = When::kModel) {
  return {.multiprocessors = 132,
          .workspace = kWorkspace,
          .options = {.cut = cut, .turn = When::kAlways, .edges = edges}};
}

// Of the row for tensor copies alone.
std::vector<Region> regions_of(const Problem& problem, std::string_view variant,
                               const PlanContext& context) {
  const KernelRow& row = row_for(kernel(), variant, problem, kAligned, context);
  return catalog::regions_of(kernel(), row, canonical_params(problem, kAligned), context);
}

std::size_t count_of(std::int64_t size, When edges = When::kModel, const char* layout = "TN") {
  return regions_of(row_major(size, size, size, layout), "256x128", context_with(edges)).size();
}

bool overlap(const Region& x, const Region& y) {
  return x.m_begin < y.m_begin + y.m && y.m_begin < x.m_begin + x.m &&
         x.n_begin < y.n_begin + y.n && y.n_begin < x.n_begin + x.n;
}

void expect_partition(const std::vector<Region>& regions, const Problem& problem) {
  long long outputs = 0;
  for (const Region& region : regions) {
    EXPECT_GT(region.m, 0);
    EXPECT_GT(region.n, 0);
    EXPECT_LE(region.m_begin + region.m, problem.m);
    EXPECT_LE(region.n_begin + region.n, problem.n);
    outputs += region.m * region.n;
    for (const Region& other : regions) {
      EXPECT_EQ(overlap(region, other), &region == &other) << "two write the same outputs";
    }
  }
  EXPECT_EQ(outputs, problem.m * problem.n);
}

TEST(Edges, RegionsCoverEachOutputOnce) {
  for (const std::string& variant : variants_of(kernel())) {
    for (const std::int64_t m : {1, 15, 64, 100, 255, 256, 257, 300, 513, 5000}) {
      for (const std::int64_t n : {1, 16, 31, 127, 128, 129, 200, 4097}) {
        for (const When edges : {When::kModel, When::kNever, When::kAlways}) {
          SCOPED_TRACE(variant + ' ' + std::to_string(m) + 'x' + std::to_string(n));
          const Problem problem = row_major(m, n, 512);
          const std::vector<Region> regions = regions_of(problem, variant, context_with(edges));
          expect_partition(regions, problem);
          const BlockTile block = regions.front().row->block;
          EXPECT_EQ(regions.front().row->variant, variant);
          for (const Region& region : regions) {
            EXPECT_EQ(region.m_begin % block.m, 0);
            EXPECT_EQ(region.n_begin % block.n, 0);
          }
        }
      }
    }
  }
}

TEST(Edges, AlwaysIsWhereverWholeTilesLeaveSomething) {
  const auto count = [](std::int64_t m, std::int64_t n, When edges) {
    return regions_of(row_major(m, n, 64), "256x128", context_with(edges)).size();
  };
  EXPECT_EQ(count(257, 129, When::kAlways), 3u);
  EXPECT_EQ(count(256, 129, When::kAlways), 2u);
  EXPECT_EQ(count(513, 128, When::kAlways), 2u);
  EXPECT_EQ(count(200, 129, When::kAlways), 2u) << "no whole tiles, but whole columns of tiles";
  EXPECT_EQ(count(512, 128, When::kAlways), 1u);
  EXPECT_EQ(count(255, 127, When::kAlways), 1u);
  EXPECT_EQ(count(257, 129, When::kNever), 1u);
}

TEST(Edges, OnlyRowsOfTensorCopiesAloneAreSplit) {
  PlanContext context = context_with(When::kAlways);
  context.options.turn = When::kNever;
  EXPECT_EQ(regions_of(row_major(260, 132, 64, "TN"), "256x128", context).size(), 3u);
  EXPECT_EQ(regions_of(row_major(260, 132, 64, "NN"), "256x128", context).size(), 1u);
  Problem nothing_read = row_major(260, 132, 64, "TN");
  nothing_read.alpha = 0;
  EXPECT_EQ(regions_of(nothing_read, "256x128", context).size(), 1u);
}

TEST(Edges, TheModelSplitsWhatIsRagged) {
  for (const char* layout : {"NN", "NT", "TN", "TT"}) {
    EXPECT_EQ(count_of(4097, When::kModel, layout), 3u) << layout;
    EXPECT_EQ(count_of(5000, When::kModel, layout), 3u) << layout;
    EXPECT_EQ(count_of(4095, When::kModel, layout), 1u) << layout << ": hardly ragged";
    EXPECT_EQ(count_of(4096, When::kModel, layout), 1u) << layout;
    EXPECT_EQ(count_of(8192, When::kModel, layout), 1u) << layout;
    EXPECT_EQ(count_of(300, When::kModel, layout), 1u) << layout << ": launches cost more";
  }
}

// What regions cost is what their products cost, with launches that begin early.
TEST(Edges, ThePredictionIsTheCheaperOne) {
  const Problem problem = row_major(4097, 4097, 4097);
  const auto total = [&](When edges) {
    const PlanContext context = context_with(edges);
    const KernelRow& row = row_for(kernel(), "256x128", problem, {}, context);
    return catalog::predicted_call(kernel(), row, problem, context);
  };
  EXPECT_EQ(total(When::kNever).edges, 0);
  EXPECT_GT(total(When::kModel).edges, 0);
  EXPECT_LT(total(When::kModel).total(), 0.96 * total(When::kNever).total());
  catalog::Prediction alone{.launch = 2.8, .multiply = 10};
  EXPECT_LT(catalog::behind_another(alone), alone.total());
  EXPECT_GT(catalog::behind_another(alone), 10);
}

// Bytes from ... to-1 of the workspace.
struct Range {
  DeviceAddress from, to;
};

template <class Params>
Params params_of(const Launch& launch) {
  Params params;
  EXPECT_EQ(launch.params.size(), sizeof params);
  std::memcpy(&params, launch.params.data(), sizeof params);
  return params;
}

DeviceAddress address(const void* pointer) { return reinterpret_cast<DeviceAddress>(pointer); }

// The launches of a plan, told apart by their entries.
struct Launches {
  std::vector<simt::TurnParams> turns;
  std::vector<simt::SimtParams> products;
  std::vector<Range> used;  // of the workspace
};

Launches read_launches(const Plan& plan, const std::vector<Region>& regions) {
  Launches all;
  for (const Launch& launch : plan.launches) {
    EXPECT_EQ(launch.starts_early, &launch != &plan.launches.front()) << launch.entry;
    for (const LaunchTensorMap& map : launch.tensor_maps) {
      EXPECT_TRUE(check(map.desc).ok()) << launch.entry << ": " << check(map.desc).message;
    }
    if (launch.entry == "simt_f32__turn") {
      all.turns.push_back(params_of<simt::TurnParams>(launch));
      for (const simt::Turn& turn : {all.turns.back().a, all.turns.back().b}) {
        if (turn.tiles == 0) continue;
        all.used.push_back({address(turn.to), address(turn.to + turn.ld * turn.k)});
      }
    } else if (!launch.entry.starts_with("simt_f32__add_")) {
      const Region& region = regions.at(all.products.size());
      EXPECT_EQ(launch.entry, region.row->entry);
      all.products.push_back(params_of<simt::SimtParams>(launch));
      const simt::SimtParams& p = all.products.back();
      const long long floats =
          scheduler::slots_of(p.schedule) * region.row->block.m * region.row->block.n;
      all.used.push_back({address(p.parts), address(p.parts + floats)});
      // Scratch tiles of one launch after the other; they stand in front of everything else.
      const long long scratch =
          static_cast<long long>(p.schedule.ctas) * region.row->block.m * region.row->block.n;
      EXPECT_EQ(address(p.scratch), kWorkspace);
      for (const simt::SimtParams& other : all.products) {
        EXPECT_LE(address(p.scratch + scratch), address(other.parts)) << launch.entry;
      }
    }
  }
  return all;
}

struct PlanCase {
  Problem problem;
  When cut;
};
std::vector<PlanCase> plan_cases() {
  std::vector<PlanCase> cases;
  for (const char* layout : {"NN", "NT", "TN", "TT"}) {
    for (const When cut : {When::kNever, When::kAlways}) {
      for (Problem p : {row_major(257, 129, 70, layout), row_major(300, 200, 300, layout),
                        row_major(256, 129, 33, layout), row_major(513, 128, 16, layout)}) {
        cases.push_back({p, cut});
        p.lda += 1, p.ldb += 3, p.ldc += 1, p.ldd += 2;
        p.beta = 1;
        cases.push_back({p, cut});
      }
    }
  }
  return cases;
}

// Operands are turned once, sub-blocks of them multiplied, and all stand apart in a workspace that
// suffices.
TEST(Edges, RegionsShareOperandsAndNothingElse) {
  for (const auto& [problem, cut] : plan_cases()) {
    SCOPED_TRACE(std::to_string(problem.m) + 'x' + std::to_string(problem.n));
    const PlanContext context = context_with(When::kAlways, cut);
    const KernelRow& row = row_for(kernel(), "256x128", problem, kAligned, context);
    const std::vector<Region> regions = regions_of(problem, "256x128", context);
    const Launches plan = read_launches(kernel().plan(row, problem, kAligned, context), regions);
    EXPECT_LE(plan.turns.size(), 1u);
    ASSERT_EQ(plan.products.size(), regions.size());
    const GemmParams& first = plan.products.front().gemm;
    for (std::size_t i = 0; i < regions.size(); ++i) {
      const GemmParams& p = plan.products[i].gemm;
      const long long m = regions[i].m_begin, n = regions[i].n_begin;
      EXPECT_EQ(p.m, regions[i].m);
      EXPECT_EQ(p.n, regions[i].n);
      EXPECT_EQ(p.a_row, 1);
      EXPECT_EQ(p.b_col, 1);
      EXPECT_EQ(address(p.a), address(first.a) + 4 * m);
      EXPECT_EQ(address(p.b), address(first.b) + 4 * n);
      EXPECT_EQ(address(p.c), kAligned.c + 4 * (m * problem.ldc + n));
      EXPECT_EQ(address(p.d), kAligned.d + 4 * (m * problem.ldd + n));
    }
    const auto bytes = static_cast<DeviceAddress>(kernel().workspace_bytes(row, problem, context));
    for (const Range& x : plan.used) {
      EXPECT_LE(x.to, kWorkspace + bytes);
      for (const Range& y : plan.used) {
        EXPECT_EQ(x.from < y.to && y.from < x.to, &x == &y && x.from < x.to);
      }
    }
  }
}

TEST(Edges, WithoutRoomThePlanIsOneRegion) {
  const Problem problem = row_major(260, 132, 3000);
  PlanContext context = context_with(When::kAlways, When::kAlways);
  const KernelRow& row = row_for(kernel(), "256x128", problem, kAligned, context);
  const std::int64_t bytes = kernel().workspace_bytes(row, problem, context);
  const auto launches = [&] {
    return kernel().plan(row, problem, kAligned, context).launches.size();
  };
  context.workspace_bytes = bytes;
  EXPECT_EQ(launches(), 6u) << "three regions, parts of each to be added";
  PlanContext one = context_with(When::kNever, When::kAlways);
  context.workspace_bytes = kernel().workspace_bytes(row, problem, one);
  EXPECT_LT(context.workspace_bytes, bytes);
  EXPECT_EQ(launches(), 2u);
}

// Room is asked for before addresses are known. Where they turn out not to be aligned, nothing is
// turned or split for lack of room, and tiles are cut as they would be in one region.
TEST(Edges, RoomSufficesForOneRegionToo) {
  for (const std::int64_t size : {1500, 2049, 4097}) {
    const Problem problem = row_major(size, size, 4096);
    const PlanContext context{.multiprocessors = 132};
    PlanContext never = context;
    never.options.edges = When::kNever;
    const KernelRow& row = row_for(kernel(), "256x128", problem, {}, context);
    EXPECT_GE(kernel().workspace_bytes(row, problem, context),
              kernel().workspace_bytes(row, problem, never));
  }
}

}  // namespace
}  // namespace tessera
