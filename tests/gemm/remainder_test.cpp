// The rectangles of a product cover each output once, are apart in the workspace, and are planned
// where the model expects that to pay.
#include "gemm/families/shared/remainder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "kernels/families/simt/params.h"
#include "tests/support/bound_launches.h"

namespace tessera {
namespace {

using gemm::Policy, gemm::Rectangle, gemm::Rectangles;

constexpr Operands kAligned{0x10000000, 0x20000000, 0x30000000, 0x40000000};
constexpr DeviceAddress kWorkspace = 0x50000000;

const Kernel& kernel() { return *choose_kernels("simt_f32").front().kernel; }

// Row-major, so that m and n are those of the kernel.
Problem row_major(std::int64_t m, std::int64_t n, std::int64_t k, const char* layout = "TN") {
  Problem problem{.m = m, .n = n, .k = k, .order = Order::kRowMajor};
  set_layout(problem, layout);
  return with_default_ld(problem);
}

gemm::PlanOptions options_with(Policy remainder, Policy split = Policy::kModel,
                               const char* variant = "256x128") {
  return {.kernel = KernelChoice{&kernel(), variant},
          .split = split,
          .repack = Policy::kAlways,
          .remainder = remainder};
}

gemm::Plan plan_of(const Problem& problem, const gemm::PlanOptions& options) {
  return gemm::plan(problem, {}, {.sms = 132}, options);
}

// The rows of tensor copies alone.
std::vector<gemm::RatedRow> small_rows() {
  std::vector<gemm::RatedRow> rows;
  for (const gemm::Variant& variant : gemm::variants_with_rates(kernel(), {.sms = 132})) {
    rows.push_back({&variant.rows.front(), variant.tflops});
  }
  return rows;
}

gemm::RemainderSearch search_for(const Problem& problem, Policy remainder) {
  return {
      small_rows(), gemm::canonical_params(problem, {}), {.sms = 132}, Policy::kModel, remainder};
}

Rectangles rectangles_of(const Problem& problem, const gemm::RatedRow& row, Policy remainder) {
  return search_for(problem, remainder).best(row);
}

// How many launches multiply.
std::size_t count_of(const gemm::Plan& plan) {
  return static_cast<std::size_t>(std::ranges::count_if(plan.steps, [](const gemm::Step& planned) {
    return !planned.launch.entry.ends_with("__repack") &&
           planned.launch.entry.find("__reduce_") == std::string::npos;
  }));
}
std::size_t count_of(std::int64_t size, Policy remainder = Policy::kModel,
                     const char* layout = "TN") {
  return count_of(plan_of(row_major(size, size, size, layout), options_with(remainder)));
}

bool overlap(const Rectangle& x, const Rectangle& y) {
  return x.m_begin < y.m_begin + y.m && y.m_begin < x.m_begin + x.m &&
         x.n_begin < y.n_begin + y.n && y.n_begin < x.n_begin + x.n;
}

void expect_partition(const Rectangles& rectangles, const Problem& problem) {
  long long outputs = 0;
  for (const Rectangle& rectangle : rectangles) {
    EXPECT_GT(rectangle.m, 0);
    EXPECT_GT(rectangle.n, 0);
    EXPECT_LE(rectangle.m_begin + rectangle.m, problem.m);
    EXPECT_LE(rectangle.n_begin + rectangle.n, problem.n);
    outputs += rectangle.m * rectangle.n;
    for (const Rectangle& other : rectangles) {
      EXPECT_EQ(overlap(rectangle, other), &rectangle == &other) << "two write the same outputs";
    }
  }
  EXPECT_EQ(outputs, problem.m * problem.n);
}

TEST(Remainder, RectanglesCoverEachOutputOnce) {
  for (const gemm::RatedRow& row : small_rows()) {
    for (const std::int64_t m : {1, 15, 64, 100, 255, 256, 257, 300, 513, 5000}) {
      for (const std::int64_t n : {1, 16, 31, 127, 128, 129, 200, 4097}) {
        for (const Policy remainder : {Policy::kModel, Policy::kNever, Policy::kAlways}) {
          SCOPED_TRACE(row.row->variant + ' ' + std::to_string(m) + 'x' + std::to_string(n));
          const Problem problem = row_major(m, n, 512);
          const Rectangles rectangles = rectangles_of(problem, row, remainder);
          expect_partition(rectangles, problem);
          EXPECT_EQ(rectangles.list[0].row.row, row.row);
          const auto leaves = [](std::int64_t size, int block) {
            return size > block && size % block != 0;
          };
          if (remainder == Policy::kAlways) {
            EXPECT_EQ(rectangles.count > 1,
                      leaves(m, row.row->block.m) || leaves(n, row.row->block.n));
          }
          for (const Rectangle& rectangle : rectangles) {
            EXPECT_EQ(rectangle.m_begin % row.row->block.m, 0);
            EXPECT_EQ(rectangle.n_begin % row.row->block.n, 0);
          }
        }
      }
    }
  }
}

TEST(Remainder, AlwaysIsWhereverWholeTilesLeaveSomething) {
  const auto count = [](std::int64_t m, std::int64_t n, Policy remainder) {
    return count_of(plan_of(row_major(m, n, 64), options_with(remainder)));
  };
  EXPECT_EQ(count(257, 129, Policy::kAlways), 3u);
  EXPECT_EQ(count(256, 129, Policy::kAlways), 2u);
  EXPECT_EQ(count(513, 128, Policy::kAlways), 2u);
  EXPECT_EQ(count(200, 129, Policy::kAlways), 2u) << "no whole tiles, but whole columns of tiles";
  EXPECT_EQ(count(512, 128, Policy::kAlways), 1u);
  EXPECT_EQ(count(255, 127, Policy::kAlways), 1u);
  EXPECT_EQ(count(257, 129, Policy::kNever), 1u);
}

TEST(Remainder, OnlyRowsOfTensorCopiesAloneAreSplit) {
  gemm::PlanOptions options = options_with(Policy::kAlways);
  options.repack = Policy::kNever;
  EXPECT_EQ(count_of(plan_of(row_major(260, 132, 64, "TN"), options)), 3u);
  EXPECT_EQ(count_of(plan_of(row_major(260, 132, 64, "NN"), options)), 1u);
  Problem nothing_read = row_major(260, 132, 64, "TN");
  nothing_read.alpha = 0;
  EXPECT_EQ(count_of(plan_of(nothing_read, options)), 1u);
}

TEST(Remainder, TheModelSplitsWhatIsRagged) {
  for (const char* layout : {"NN", "NT", "TN", "TT"}) {
    EXPECT_EQ(count_of(4097, Policy::kModel, layout), 3u) << layout;
    EXPECT_EQ(count_of(5000, Policy::kModel, layout), 3u) << layout;
    EXPECT_EQ(count_of(4095, Policy::kModel, layout), 1u) << layout << ": hardly ragged";
    EXPECT_EQ(count_of(4096, Policy::kModel, layout), 1u) << layout;
    EXPECT_EQ(count_of(8192, Policy::kModel, layout), 1u) << layout;
    EXPECT_EQ(count_of(300, Policy::kModel, layout), 1u) << layout << ": launches cost more";
  }
}

// What rectangles cost is what their products cost, with launches that begin early.
TEST(Remainder, TheCostIsTheCheaperOne) {
  const Problem problem = row_major(4097, 4097, 4097);
  const auto cost = [&](Policy remainder) {
    return plan_of(problem, options_with(remainder)).offers.front().cost;
  };
  EXPECT_EQ(cost(Policy::kNever).remainder, 0);
  EXPECT_GT(cost(Policy::kModel).remainder, 0);
  EXPECT_LT(cost(Policy::kModel).total(), 0.96 * cost(Policy::kNever).total());
  const gemm::Cost alone{.launch = 2.8, .multiply = 10};
  EXPECT_LT(gemm::after_another(alone, {}), alone.total());
  EXPECT_GT(gemm::after_another(alone, {}), 10);
}

// What is left out of the search because it is too dear would not have won.
TEST(Remainder, NoLaunchCostsLessThanTheLeast) {
  const std::vector<gemm::RatedRow> rows = small_rows();
  for (const gemm::RatedRow& row : rows) {
    const gemm::OperandModes modes{row.row->majors, row.row->loads};
    for (const std::int64_t m : {1, 7, 100, 128, 255, 4096}) {
      for (const std::int64_t n : {1, 16, 100, 264, 5000}) {
        for (const std::int64_t k : {1, 8, 1000, 20000}) {
          for (const int sms : {1, 10, 132}) {
            const GemmParams p = gemm::canonical_params(row_major(m, n, k), {});
            for (const Policy split : {Policy::kModel, Policy::kNever, Policy::kAlways}) {
              const gemm::Scheduled one =
                  gemm::cost_of_persistent(row, modes, p, {.sms = sms}, split);
              ASSERT_GE(gemm::after_another(one.cost, {}),
                        gemm::least_after_another(p, rows, {.sms = sms}))
                  << row.row->variant << ' ' << m << 'x' << n << 'x' << k << ' ' << sms;
            }
          }
        }
      }
    }
  }
}

// Remainders that rows have in common are priced once: 2 of 9 rows each at 4097, not 9 times 8.
TEST(Remainder, RowsShareThePricesOfRemainders) {
  const Problem problem = row_major(4097, 4097, 4097);
  gemm::RemainderSearch search = search_for(problem, Policy::kAlways);
  const std::vector<gemm::RatedRow> rows = small_rows();
  for (const gemm::RatedRow& row : rows) search.best(row);
  const int first = search.priced();
  // Every row in one piece, and as whole tiles with the corner on either side; remainders of one
  // row or column, with and without the corner.
  EXPECT_LE(first, static_cast<int>(rows.size()) * 3 + 4 * static_cast<int>(rows.size()));
  for (const gemm::RatedRow& row : rows) search.best(row);
  EXPECT_EQ(search.priced() - first, static_cast<int>(rows.size()) * 3) << "nothing anew";
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
  std::vector<passes::RepackParams> repacks;
  std::vector<simt::SimtParams> products;
  std::vector<Range> used;  // of the workspace
};

// Scratch tiles of one launch after the other; they are ahead of everything else.
void expect_scratch_apart(const Launches& all, const simt::SimtParams& p, const BlockTile& block) {
  const long long scratch = static_cast<long long>(p.schedule.ctas) * block.m * block.n;
  EXPECT_EQ(address(p.scratch), kWorkspace);
  for (const simt::SimtParams& other : all.products) {
    EXPECT_LE(address(p.scratch + scratch), address(other.partials));
  }
}

BlockTile block_of(const std::string& entry) {
  const auto row =
      std::ranges::find_if(kernel().rows, [&](const KernelRow& r) { return r.entry == entry; });
  EXPECT_NE(row, kernel().rows.end()) << entry;
  return row->block;
}

Launches read_launches(const std::vector<Launch>& launches) {
  Launches all;
  std::vector<BlockTile> blocks;
  for (const Launch& launch : launches) {
    EXPECT_EQ(launch.shape.starts_early, &launch != &launches.front()) << launch.entry;
    for (const LaunchTensorMap& map : launch.tensor_maps) {
      EXPECT_TRUE(check(map.desc).ok()) << launch.entry << ": " << check(map.desc).message;
    }
    if (launch.entry == "simt_f32__repack") {
      all.repacks.push_back(params_of<passes::RepackParams>(launch));
      for (const passes::Repack& repack : {all.repacks.back().a, all.repacks.back().b}) {
        if (repack.tiles == 0) continue;
        all.used.push_back(
            {address(repack.to), address(static_cast<float*>(repack.to) + repack.ld * repack.k)});
      }
    } else if (!launch.entry.starts_with("simt_f32__reduce_")) {
      blocks.push_back(block_of(launch.entry));
      all.products.push_back(params_of<simt::SimtParams>(launch));
      const simt::SimtParams& p = all.products.back();
      const long long floats = schedule::slots_of(p.schedule) * blocks.back().m * blocks.back().n;
      all.used.push_back({address(p.partials), address(p.partials + floats)});
    }
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    expect_scratch_apart(all, all.products[i], blocks[i]);
  }
  return all;
}

// A plan looks at each product once: 9 variants in one piece, as whole tiles with the corner on
// either side, and 4 remainders of one row or column by 9 rows; where operands are repacked, the
// one piece a second time, for its room.
TEST(Remainder, APlanSearchesOnce) {
  for (const char* layout : {"TN", "NN"}) {
    int priced = 0;
    const gemm::Plan plan = gemm::plan(row_major(4097, 4097, 4097, layout), {}, {.sms = 132});
    for (const gemm::Candidate& offer : plan.offers) {
      if (offer.kernel == &kernel()) priced += offer.priced;
    }
    EXPECT_LE(priced, 9 * 5 + 4 * 9 + 9) << layout;
    EXPECT_GE(priced, 9 + 4) << layout;
  }
}

struct PlanCase {
  Problem problem;
  Policy split;
};
std::vector<PlanCase> plan_cases() {
  std::vector<PlanCase> cases;
  for (const char* layout : {"NN", "NT", "TN", "TT"}) {
    for (const Policy split : {Policy::kNever, Policy::kAlways}) {
      for (Problem p : {row_major(257, 129, 70, layout), row_major(300, 200, 300, layout),
                        row_major(256, 129, 33, layout), row_major(513, 128, 16, layout)}) {
        cases.push_back({p, split});
        p.lda += 1, p.ldb += 3, p.ldc += 1, p.ldd += 2;
        p.beta = 1;
        cases.push_back({p, split});
      }
    }
  }
  return cases;
}

// Where a rectangle begins in D.
struct Begin {
  long long m, n;
};
Begin begin_of(const GemmParams& p, const Problem& problem) {
  const auto element = static_cast<long long>(address(p.d) - kAligned.d) / 4;
  return {element / problem.ldd, element % problem.ldd};
}

// Operands are repacked once, sub-blocks of them multiplied, and all are apart in a workspace that
// suffices.
TEST(Remainder, RectanglesShareOperandsAndNothingElse) {
  for (const auto& [problem, split] : plan_cases()) {
    SCOPED_TRACE(std::to_string(problem.m) + 'x' + std::to_string(problem.n));
    const gemm::Plan planned = plan_of(problem, options_with(Policy::kAlways, split));
    const std::int64_t bytes = planned.workspace_bytes();
    const Launches plan =
        read_launches(bound_launches(planned, {kAligned, 1, problem.beta, kWorkspace, bytes}));
    EXPECT_LE(plan.repacks.size(), 1u);
    const GemmParams& first = plan.products.front().gemm;
    long long outputs = 0;
    for (const simt::SimtParams& product : plan.products) {
      const GemmParams& p = product.gemm;
      const auto [m, n] = begin_of(p, problem);
      outputs += p.m * p.n;
      EXPECT_EQ(p.a_row, 1);
      EXPECT_EQ(p.b_col, 1);
      EXPECT_EQ(address(p.a), address(first.a) + 4 * m);
      EXPECT_EQ(address(p.b), address(first.b) + 4 * n);
      EXPECT_EQ(address(p.c), kAligned.c + 4 * (m * problem.ldc + n));
      EXPECT_EQ(p.beta, problem.beta);
      EXPECT_EQ(p.alpha, 1);
    }
    EXPECT_EQ(outputs, problem.m * problem.n);
    for (const Range& x : plan.used) {
      EXPECT_LE(x.to, kWorkspace + static_cast<DeviceAddress>(bytes));
      for (const Range& y : plan.used) {
        EXPECT_EQ(x.from < y.to && y.from < x.to, &x == &y && x.from < x.to);
      }
    }
  }
}

TEST(Remainder, WithoutRoomThePlanIsOneRectangle) {
  const Problem problem = row_major(260, 132, 3000);
  gemm::PlanOptions options = options_with(Policy::kAlways, Policy::kAlways);
  const std::int64_t bytes = plan_of(problem, options).workspace_bytes();
  options.workspace_limit = bytes;
  EXPECT_EQ(plan_of(problem, options).steps.size(), 6u)
      << "three rectangles, partials of each to be added";
  const std::int64_t least =
      plan_of(problem, options_with(Policy::kNever, Policy::kAlways)).workspace_bytes();
  EXPECT_LT(least, bytes);
  options.workspace_limit = least;
  EXPECT_EQ(plan_of(problem, options).steps.size(), 2u);
  options.workspace_limit = least - 1;
  const gemm::Plan whole = plan_of(problem, options);
  EXPECT_EQ(whole.steps.size(), 1u) << "no partials";
  options.workspace_limit = 0;
  try {
    plan_of(problem, options);
    FAIL() << "a plan without room";
  } catch (const StatusError& error) {
    EXPECT_EQ(error.status().code, StatusCode::kBadArgument);
    for (const std::int64_t named : {whole.workspace_bytes(), std::int64_t{0}}) {
      EXPECT_NE(std::string(error.what()).find(std::to_string(named)), std::string::npos)
          << error.what();
    }
  }
}

}  // namespace
}  // namespace tessera
