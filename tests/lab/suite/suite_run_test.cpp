#include "lab/suite/suite_run.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/lab/suite/course.h"

namespace tessera::lab {
namespace {

// Six cells: the kernel takes 1 ms, the library 2 for the even ones and 0.5 for the odd ones, and
// cell 5 nothing can be timed of.
class SuiteRunTest : public testing::Test {
 protected:
  SuiteRunTest() {
    for (int number = 0; number < 6; ++number) {
      DrawnCell cell = cell_of({64, 48, 32, number == 5 ? kBf16Types : kF32Types});
      cell.number = number;
      cells_.push_back(cell);
    }
  }
  // The library's only call takes as long as the cell says.
  class ByCell : public Vendor {
   public:
    explicit ByCell(SuiteRunTest& test) : test_(test) {}
    std::string version() const override { return "fake"; }
    std::int64_t workspace_bytes() const override { return 0; }
    std::vector<VendorCall> calls(const Problem&) override {
      return {{"default", false, true, [this](const Operands&) {
                 test_.course_.device.advance(test_.now_ % 2 == 0 ? 2 : 0.5);
               }}};
    }

   private:
    SuiteRunTest& test_;
  };

  void run(SuiteRunOptions options) {
    options.progress = [&](int, int, const DrawnCell& cell) {
      now_ = cell.number;
      order_.push_back(cell.number);
    };
    ByCell vendor(*this);
    CellBench bench(course_.device, course_.timer, &vendor,
                    {.plan = {.kernel = KernelChoice{&course_.kernel, "only"}}});
    SuiteRun(bench, cells_, file_, options).time();
  }
  std::string protocol_of(int number) const {
    return file_.find(number)->value("protocol", "none");
  }

  Course course_;
  std::vector<DrawnCell> cells_;
  SuiteFile file_{"", {}, {std::string(kSuiteSchema), "drawn", 1, 6, "quick", "--json"}};
  std::vector<int> order_;
  int now_ = 0;
};

TEST_F(SuiteRunTest, LossesAreTimedAgain) {
  run({});
  EXPECT_EQ(order_, (std::vector{0, 1, 2, 3, 4, 5, 1, 3}));
  for (const int number : {0, 2, 4}) EXPECT_EQ(protocol_of(number), "quick") << number;
  for (const int number : {1, 3}) EXPECT_EQ(protocol_of(number), "full") << number;
  EXPECT_EQ(protocol_of(5), "none");
  EXPECT_DOUBLE_EQ(*ratio_of(*file_.find(0)), 2);
  EXPECT_DOUBLE_EQ(*ratio_of(*file_.find(1)), 0.5);
  EXPECT_FALSE(file_.find(1)->contains("both_ways"));
}

TEST_F(SuiteRunTest, TheFirstOnesAreTimedBothWaysAndBeforeTheLosses) {
  run({.both_ways = 3, .over = {}, .progress = {}});
  EXPECT_EQ(order_, (std::vector{0, 1, 2, 3, 4, 5, 0, 1, 2, 3}));
  for (const int number : {0, 1, 2}) {
    EXPECT_TRUE(file_.find(number)->value("both_ways", false)) << number;
    EXPECT_TRUE(file_.find(number)->contains("quick")) << number;
  }
  EXPECT_FALSE(file_.find(3)->contains("both_ways"));
}

TEST_F(SuiteRunTest, ARunThatEndsGoesOnWhereItEnded) {
  run({.both_ways = 0, .over = [&] { return order_.size() == 4; }, .progress = {}});
  EXPECT_EQ(file_.size(), 4u);
  order_.clear();
  run({});
  EXPECT_EQ(order_, (std::vector{4, 5, 1, 3})) << "no cell twice by one protocol";
  order_.clear();
  run({});
  EXPECT_EQ(order_, std::vector<int>{}) << "nothing is left";
}

TEST_F(SuiteRunTest, LossesNearTheLimitComeFirst) {
  for (const auto& [number, ratio] : {std::pair{0, 0.5}, {1, 0.96}, {2, 0.7}, {3, 0.98}}) {
    Json cell = to_json(cells_[static_cast<std::size_t>(number)]);
    cell["protocol"] = "quick";
    cell["time_ms"] = {{"median", 1.0}};
    cell["vendor"] = {{"time_ms", {{"median", ratio}}}};
    cell["ratio_to_vendor"] = ratio;
    file_.set(number, cell);
  }
  cells_.resize(4);
  run({});
  EXPECT_EQ(order_, (std::vector{1, 2, 0}));
}

}  // namespace
}  // namespace tessera::lab
