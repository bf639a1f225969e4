#include "lab/suite/goals.h"

#include "lab/suite/losses.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace tessera::lab {
namespace {

bool has(const std::vector<DrawnCell>& cells, std::int64_t m, std::int64_t n, std::int64_t k,
         const Types& types, std::int64_t count = 1) {
  std::set<std::string> layouts;
  for (const DrawnCell& cell : cells) {
    const Problem& p = cell.problem;
    if (p.m == m && p.n == n && p.k == k && p.types == types && p.batch.count == count) {
      layouts.insert(layout_of(p));
    }
  }
  return layouts.size() == 4;
}

TEST(GoalSuite, HasTheSquaresOfEachTypeInEachLayout) {
  const std::vector<DrawnCell> cells = goal_suite();
  for (const Types& types : {kBf16Types, kF16Types, kTf32Types, kF32Types, kF64Types}) {
    for (const std::int64_t size : {512, 1023, 1024, 2047, 2048, 4095, 4096, 4097, 8192}) {
      EXPECT_TRUE(has(cells, size, size, size, types)) << size << ' ' << name_of(types);
    }
  }
  EXPECT_TRUE(has(cells, 16384, 16384, 16384, kTf32Types));
  EXPECT_FALSE(has(cells, 16384, 16384, 16384, kF64Types));
  EXPECT_TRUE(has(cells, 50257, 1024, 768, kBf16Types));
  EXPECT_TRUE(has(cells, 200, 30000, 500, kF32Types));
  EXPECT_TRUE(has(cells, 64, 64, 64, kF64Types, 1000));
}

TEST(GoalSuite, CellsAreLegalNumberedAndShort) {
  int number = 0;
  for (const DrawnCell& cell : goal_suite()) {
    EXPECT_EQ(cell.number, number++);
    EXPECT_TRUE(check(cell.problem).ok()) << check(cell.problem).message;
    EXPECT_GT(cell.problem.ldd, 0);
    EXPECT_LT(estimated_ms(cell.problem), 31);
    const bool odd = cell.problem.lda % 2 != 0 && cell.problem.ldd % 2 != 0;
    if (odd && cell.kind == CellClass::kSquare) {
      EXPECT_EQ(cell.stride, RowStride::kOdd);
    }
  }
  EXPECT_GT(number, 300);
}

TEST(LossSuite, CellsAreLegalAndNumberedAndSayTheirRow) {
  std::set<std::string> rows, problems;
  int number = 0;
  for (const DrawnCell& cell : loss_suite()) {
    EXPECT_EQ(cell.number, number++);
    EXPECT_TRUE(check(cell.problem).ok()) << check(cell.problem).message;
    EXPECT_EQ(cell.in_place, cell.problem.beta != 0);
    rows.insert(cell.from);
    const Problem& p = cell.problem;
    problems.insert(name_of(p.types) + ' ' + layout_of(p) + ' ' + std::to_string(p.m) + ' ' +
                    std::to_string(p.n) + ' ' + std::to_string(p.k) + ' ' +
                    std::to_string(p.batch.count) + describe(p.epilogue));
  }
  EXPECT_EQ(rows.size(), 15u);
  EXPECT_EQ(problems.size(), static_cast<std::size_t>(number)) << "a problem occurs twice";
}

}  // namespace
}  // namespace tessera::lab
