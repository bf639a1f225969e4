#include "lab/suite/draw.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "lab/suite/chance.h"

namespace tessera::lab {
namespace {

bool same(const DrawnCell& x, const DrawnCell& y) {
  const Problem &p = x.problem, &q = y.problem;
  return x.number == y.number && x.kind == y.kind && x.stride == y.stride && x.from == y.from &&
         x.tokens == y.tokens && x.in_place == y.in_place && p.m == q.m && p.n == q.n &&
         p.k == q.k && p.types == q.types && p.order == q.order && layout_of(p) == layout_of(q) &&
         p.lda == q.lda && p.ldb == q.ldb && p.ldc == q.ldc && p.ldd == q.ldd &&
         p.alpha == q.alpha && p.beta == q.beta && p.batch == q.batch && p.epilogue == q.epilogue;
}

bool same(const std::vector<DrawnCell>& x, const std::vector<DrawnCell>& y) {
  return std::ranges::equal(x, y,
                            [](const auto& one, const auto& other) { return same(one, other); });
}

TEST(DrawnSuite, IsAFunctionOfItsSeed) {
  EXPECT_TRUE(same(draw_suite(7, 100), draw_suite(7, 100)));
  EXPECT_FALSE(same(draw_suite(7, 100), draw_suite(8, 100)));
}

TEST(DrawnSuite, HasTheSameCellsOnEveryMachine) {
  const DrawnCell cell = draw_suite(1, 100).at(3);
  const Problem& p = cell.problem;
  EXPECT_EQ(std::string(name_of(cell.kind)) + " " + name_of(p.types) + " " + std::to_string(p.m) +
                " " + std::to_string(p.n) + " " + std::to_string(p.k) + " " + layout_of(p) + " " +
                std::to_string(p.lda),
            "layer f64 307 4096 16384 NN 16385");
}

TEST(Chance, StreamsOfOneStreamShareNoNumbers) {
  Chance all(3);
  std::set<std::uint64_t> seen;
  for (int stream = 0; stream < 20; ++stream) {
    Chance one = all.split();
    for (int i = 0; i < 50; ++i) EXPECT_TRUE(seen.insert(one.next()).second) << stream;
  }
}

using Counts = std::map<std::string, double>;

Counts percent_of(const std::vector<DrawnCell>& cells,
                  const std::function<std::string(const DrawnCell&)>& key) {
  Counts counts;
  for (const DrawnCell& cell : cells) {
    counts[key(cell)] += 100.0 / static_cast<double>(cells.size());
  }
  return counts;
}

void expect_near(const Counts& found, const Counts& wanted, double by) {
  for (const auto& [name, percent] : wanted) {
    EXPECT_NEAR(found.contains(name) ? found.at(name) : 0, percent, by) << name;
  }
  EXPECT_EQ(found.size(), wanted.size());
}

std::string type_of(const DrawnCell& cell) { return name_of(cell.problem.types); }
std::string class_of(const DrawnCell& cell) { return std::string(name_of(cell.kind)); }
std::string stride_of(const DrawnCell& cell) { return std::string(name_of(cell.stride)); }

const Counts kTypes{{"bf16", 30}, {"f16", 15}, {"tf32", 15}, {"f32", 20}, {"f64", 20}};
const Counts kClasses{{"square", 10},      {"layer", 25},   {"attention", 10}, {"update", 10},
                      {"convolution", 10}, {"slender", 15}, {"batch", 15},     {"epilogue", 5}};
const Counts kStrides{{"16", 60}, {"even", 25}, {"padded", 5}, {"odd", 10}};

TEST(DrawnSuite, HasItsWeights) {
  for (const int count : {100, 1000}) {
    const auto cells = draw_suite(11, count);
    ASSERT_EQ(cells.size(), static_cast<std::size_t>(count));
    expect_near(percent_of(cells, type_of), kTypes, 1e-6);
    expect_near(percent_of(cells, class_of), kClasses, 1e-6);
    expect_near(percent_of(cells, stride_of), kStrides, 1e-6);
  }
}

TEST(DrawnSuite, EveryTypeHasTheWeightsToo) {
  const auto cells = draw_suite(12, 1000);
  for (const auto& [type, percent] : kTypes) {
    std::vector<DrawnCell> some;
    std::ranges::copy_if(cells, std::back_inserter(some),
                         [&](const DrawnCell& cell) { return type_of(cell) == type; });
    expect_near(percent_of(some, class_of), kClasses, 1.5);
    expect_near(percent_of(some, stride_of), kStrides, 1.5);
  }
}

TEST(DrawnSuite, HalfOfTheLayersHaveFewTokens) {
  int few = 0, all = 0;
  for (const DrawnCell& cell : draw_suite(13, 1000)) {
    if (cell.kind != CellClass::kLayer) continue;
    ++all;
    few += cell.tokens <= 128 ? 1 : 0;
  }
  EXPECT_EQ(all, 250);
  EXPECT_EQ(few, 125);
}

TEST(DrawnSuite, TheFirstCellsAreAFairSample) {
  auto cells = draw_suite(14, 1000);
  cells.resize(200);
  expect_near(percent_of(cells, type_of), kTypes, 9);
}

// Elements from one row to the next: of A, B and D, where rows have more than one element.
std::set<std::int64_t> row_strides(const Problem& p) {
  std::set<std::int64_t> all;
  for (const auto& [view, ld] :
       {std::pair(view_a(p), p.lda), {view_b(p), p.ldb}, {view_d(p), p.ldd}}) {
    if (view.row != 1 || view.col != 1) all.insert(ld);
  }
  return all;
}

TEST(DrawnSuite, RowStridesAreOfTheirClass) {
  for (const DrawnCell& cell : draw_suite(15, 1000)) {
    for (const std::int64_t ld : row_strides(cell.problem)) {
      if (ld == 1) continue;
      const std::string what = class_of(cell) + " " + stride_of(cell) + " " + std::to_string(ld);
      const bool is_right = cell.stride == RowStride::kOdd    ? ld % 2 == 1
                            : cell.stride == RowStride::kEven ? ld % 2 == 0 && ld % 16 != 0
                                                              : ld % 16 == 0;
      EXPECT_TRUE(is_right) << what;
    }
  }
}

TEST(DrawnSuite, CellsAreLegalShortAndSmall) {
  for (const DrawnCell& cell : draw_suite(16, 1000)) {
    const Status status = check(cell.problem);
    EXPECT_TRUE(status.ok()) << status.message;
    EXPECT_LE(estimated_ms(cell.problem), kLongestCallMs);
    EXPECT_LE(operand_bytes(cell.problem), kLargestCallBytes);
    EXPECT_EQ(cell.in_place, cell.problem.beta != 0);
  }
}

// A tenth of each third of the logarithms at least, of squares up to the size that 5 ms allow.
TEST(DrawnSuite, SizesAreLogUniform) {
  std::map<int, int> thirds;
  int all = 0;
  for (const DrawnCell& cell : draw_suite(17, 4000)) {
    if (cell.kind != CellClass::kSquare || type_of(cell) != "bf16") continue;
    ++all;
    ++thirds[static_cast<int>(3 * std::log2(cell.problem.m / 64.0) / std::log2(12000 / 64.0))];
  }
  ASSERT_GT(all, 100);
  for (int third = 0; third < 3; ++third) EXPECT_NEAR(thirds[third], all / 3.0, 0.1 * all) << third;
}

TEST(DrawnSuite, EveryKindOfBatchIsDrawn) {
  std::map<std::string, int> kinds;
  for (const DrawnCell& cell : draw_suite(18, 1000)) {
    if (cell.kind != CellClass::kBatch) continue;
    ++kinds[cell.from];
    const Batch& batch = cell.problem.batch;
    EXPECT_EQ(cell.from == "pointers", batch.kind == BatchKind::kPointers);
    EXPECT_EQ(cell.from == "shared A", batch.kind == BatchKind::kStrided && batch.stride_a == 0);
    EXPECT_EQ(cell.from == "shared B", batch.kind == BatchKind::kStrided && batch.stride_b == 0);
  }
  for (const char* kind : {"strided", "shared A", "shared B", "pointers"}) {
    EXPECT_GT(kinds[kind], 10) << kind;
  }
}

TEST(DrawnSuite, UpdatesAreOfOneMatrix) {
  for (const DrawnCell& cell : draw_suite(19, 1000)) {
    if (cell.kind != CellClass::kUpdate) continue;
    const Problem& p = cell.problem;
    EXPECT_EQ((std::set{p.lda, p.ldb, p.ldc, p.ldd}).size(), 1u);
    EXPECT_GE(p.ldd, std::max(p.m, p.n) + p.k);
    EXPECT_TRUE(p.k >= 16 && p.k <= 512) << p.k;
    EXPECT_EQ(p.alpha, -1);
  }
}

TEST(DrawnSuite, HalfOfAttentionIsVocabularies) {
  int heads = 0;
  for (const DrawnCell& cell : draw_suite(20, 4000)) {
    if (cell.kind == CellClass::kAttention) heads += cell.problem.batch.count > 1 ? 1 : 0;
  }
  EXPECT_NEAR(heads, 200, 40);
}

TEST(DrawnSuite, RefusesACountByName) {
  for (const int count : {0, -1, 100001}) {
    try {
      draw_suite(1, count);
      FAIL() << count;
    } catch (const StatusError& error) {
      EXPECT_EQ(error.status().code, StatusCode::kBadArgument);
      EXPECT_NE(std::string(error.what()).find("cells is " + std::to_string(count)),
                std::string::npos);
    }
  }
}

}  // namespace
}  // namespace tessera::lab
