// Cells on the virtual GPU, which computes them; and on a device that poses as a real GPU, whose
// clock is known.
#include "lab/suite/cell_bench.h"

#include <gtest/gtest.h>

#include <set>

#include "lab/suite/check.h"
#include "lab/verify/stop.h"
#include "tests/lab/suite/course.h"
#include "tests/support/test_device.h"

namespace tessera::lab {
namespace {

// Small problems with all that a drawn cell may have.
std::vector<DrawnCell> small_cells() {
  std::vector<DrawnCell> cells;
  for (const Types& types : {kBf16Types, kF16Types, kTf32Types, kF32Types, kF64Types}) {
    Problem plain{37, 29, 41, types};
    set_layout(plain, "TN");
    plain.lda = 45, plain.ldb = 43, plain.ldd = plain.ldc = 40;
    cells.push_back(cell_of(plain));
    Problem update{33, 31, 17, types};
    update.alpha = -1, update.beta = 1;
    cells.push_back(cell_of(update, true));
    Problem strided{9, 10, 11, types, Order::kRowMajor};
    set_layout(strided, "NT");
    strided.batch = {BatchKind::kStrided, 3, 0, 121, 90, 90};
    cells.push_back(cell_of(strided));
    Problem bias{9, 10, 11, types, Order::kRowMajor};
    bias.epilogue = parse_epilogue("bias_col+gelu");
    cells.push_back(cell_of(bias));
    if (types == kTf32Types) continue;  // no kernel takes this in TF32
    Problem pointers{9, 10, 11, types};
    pointers.batch = {.kind = BatchKind::kPointers, .count = 3, .alignment = 16};
    cells.push_back(cell_of(pointers));
  }
  return cells;
}

TEST(SampleCheck, ARightPlanIsRightForEveryKindOfCell) {
  SuiteMemory memory(test_device(), 5);
  for (const DrawnCell& cell : small_cells()) {
    const CellOperands operands = memory.operands(cell);
    const PlannedCall call(test_device(), cell.problem, operands[0], {});
    const SampleCheck found =
        check_samples(test_device(), cell, operands, [&](const Operands& set) { call.run(set); });
    EXPECT_TRUE(found.ok) << name_of(cell.problem.types) << " " << found.reason;
    EXPECT_GT(found.max_error_ratio, 0);
  }
}

// Else some leading dimension meets the same numbers again in its next rows.
TEST(SuiteMemory, PatternsRepeatAfterAPrimeNumberOfElements) {
  SuiteMemory memory(test_device(), 5);
  for (const DrawnCell& cell : small_cells()) {
    const CellOperands operands = memory.operands(cell);
    for (const HostMatrix* pattern : {operands.pattern, operands.result_pattern}) {
      const std::int64_t length = pattern->view().cols;
      ASSERT_GT(length, 1);
      for (std::int64_t i = 2; i * i <= length; ++i) ASSERT_NE(length % i, 0) << i;
    }
  }
}

// Calls that multiply something else, or nothing.
TEST(SampleCheck, AWrongResultIsSeen) {
  SuiteMemory memory(test_device(), 5);
  for (const DrawnCell& cell : small_cells()) {
    const CellOperands operands = memory.operands(cell);
    const auto expect_wrong = [&](const char* what, const auto& call) {
      const SampleCheck found = check_samples(test_device(), cell, operands, call);
      EXPECT_FALSE(found.ok) << what << " " << name_of(cell.problem.types);
      EXPECT_NE(found.reason.find("sampled entries"), std::string::npos) << found.reason;
    };
    expect_wrong("not run", [](const Operands&) {});
    Problem shorter = cell.problem;
    shorter.k -= 1;
    const PlannedCall drops(test_device(), shorter, operands[0], {});
    expect_wrong("the last k left out", [&](const Operands& set) { drops.run(set); });
    Problem fewer = cell.problem;
    fewer.n -= 1;
    const PlannedCall narrow(test_device(), fewer, operands[0], {});
    expect_wrong("the last column left out", [&](const Operands& set) { narrow.run(set); });
    if (cell.problem.batch.kind == BatchKind::kNone) continue;
    Problem first = cell.problem;
    first.batch.count = 2;
    const PlannedCall short_batch(test_device(), first, operands[0], {});
    expect_wrong("the last product left out", [&](const Operands& set) { short_batch.run(set); });
  }
}

TEST(SuiteMemory, SetsExceedTheL2AndDoNotOverlap) {
  FakeDevice device;
  SuiteMemory memory(device, 1);
  const DrawnCell cell = cell_of({64, 48, 32});
  const CellOperands operands = memory.operands(cell);
  const std::int64_t bytes = 4 * (64 * 32 + 32 * 48 + 64 * 48);
  EXPECT_GT(static_cast<std::int64_t>(operands.sets.size()) * bytes, 2 * device.info().l2_bytes);
  for (std::size_t i = 0; i + 1 < operands.sets.size(); ++i) {
    EXPECT_GE(operands.sets[i].b, operands.sets[i].a + 4 * 64 * 32);
    EXPECT_GE(operands.sets[i + 1].a, operands.sets[i].b + 4 * 32 * 48);
    EXPECT_GE(operands.sets[i + 1].d, operands.sets[i].d + 4 * 64 * 48);
    EXPECT_EQ(operands.sets[i].a % 256, 0u);
  }
}

TEST(CellBench, TimesOursInTurnWithTheBestOfTheVendors) {
  Course course;
  CellBench bench = course.bench();
  for (const SuiteProtocol& protocol : {quick_protocol(), full_protocol()}) {
    const CellResult result = bench.run(cell_of({64, 48, 32}), protocol);
    EXPECT_EQ(result.reason, "");
    EXPECT_EQ(result.kernel, "02_coalesced/only");
    EXPECT_DOUBLE_EQ(result.time.ours.median, 1);
    EXPECT_DOUBLE_EQ(result.time.vendor->median, 0.5);
    EXPECT_EQ(result.time.vendor_name, "candidate 2");
    EXPECT_DOUBLE_EQ(*result.time.ratio(), 0.5);
    EXPECT_FALSE(result.time.without_limit);
    EXPECT_GT(result.max_error_ratio, 0);
    EXPECT_EQ(result.time.ours.n, protocol.timing.rounds * (protocol.name == "quick" ? 10 : 50));
  }
}

TEST(CellBench, IdlesOnlyWhereACallIsLong) {
  Course course;
  CellBench bench = course.bench();
  bench.run(cell_of({64, 48, 32}), quick_protocol());
  EXPECT_EQ(course.timer.idled, 2 * 3 * 100) << "two rounds of ours and two of the vendor's";
  course.device.ms_per_launch = 0.05;
  course.timer.idled = 0;
  for (const SuiteProtocol& protocol : {quick_protocol(), full_protocol()}) {
    bench.run(cell_of({64, 48, 32}), protocol);
    EXPECT_EQ(course.timer.idled, 0) << protocol.name;
  }
}

TEST(CellBench, AWrongResultHasNoTime) {
  Course course(Bug::kDropsLastK);
  CellBench bench = course.bench();
  const CellResult result = bench.run(cell_of({64, 48, 32}), quick_protocol());
  EXPECT_NE(result.reason.find("02_coalesced/only: product 0, sampled entries"), std::string::npos)
      << result.reason;
  EXPECT_EQ(result.time.ours.n, 0);
}

TEST(CellBench, ACellThatNoKernelTakesHasAReason) {
  Course course;
  CellBench bench = course.bench();
  const CellResult result = bench.run(cell_of({64, 48, 32, kBf16Types}), quick_protocol());
  EXPECT_NE(result.reason.find("bf16"), std::string::npos) << result.reason;
}

TEST(CellBench, AnEpilogueThatTheVendorLacksLeavesItTheProduct) {
  Course course(Bug::kNone, {5, 4});
  class Plain : public Vendor {
   public:
    explicit Plain(Vendor& all) : all_(all) {}
    std::string version() const override { return all_.version(); }
    std::int64_t workspace_bytes() const override { return 0; }
    std::vector<VendorCall> calls(const Problem& p) override {
      return p.epilogue.is_identity() ? all_.calls(p) : std::vector<VendorCall>{};
    }

   private:
    Vendor& all_;
  } plain(course.vendor);
  CellBench bench(test_device(), course.timer, &plain);
  DrawnCell cell = cell_of({9, 10, 11, kF32Types});
  cell.problem.epilogue = parse_epilogue("bias_row");
  const CellResult result = bench.run(cell, quick_protocol());
  EXPECT_EQ(result.reason, "");
  EXPECT_EQ(result.time.vendor_name, "candidate 1, without the epilogue");
}

TEST(CellBench, APlanThatTheLimitForbidsIsTimedToo) {
  Course course;
  const DrawnCell cell = cell_of({64, 64, 4096, kF32Types});
  CellBench limited(test_device(), course.timer, nullptr, {.workspace_limit = 0});
  const CellResult result = limited.run(cell, quick_protocol());
  EXPECT_EQ(result.reason, "");
  EXPECT_EQ(result.workspace_bytes, 0);
  EXPECT_GT(result.workspace_without_limit, 0);
  EXPECT_NE(result.kernel_without_limit, "");
  ASSERT_TRUE(result.time.without_limit);
  EXPECT_GT(result.time.without_limit->n, 0);
  CellBench any(test_device(), course.timer, nullptr, {.workspace_limit = gemm::kAnyWorkspace});
  EXPECT_FALSE(any.run(cell, quick_protocol()).time.without_limit) << "the same plan twice";
}

// A small product of FP32 is left to FFMAs in each compute type.
TEST(CellBench, PlansThatAreTheSameAreNotTimed) {
  Course course;
  CellBench bench(test_device(), course.timer, nullptr);
  const TwoPlans same = bench.compare(cell_of({40, 41, 42, kF32Types}), ComputeType::kF16x3);
  EXPECT_EQ(same.reason, "");
  EXPECT_FALSE(same.other);
  EXPECT_EQ(same.own.ms.n, 0);
  const TwoPlans two = bench.compare(cell_of({40, 41, 42, kF32Types}), ComputeType::kTf32);
  EXPECT_EQ(two.reason, "");
  ASSERT_TRUE(two.other);
  EXPECT_NE(two.own.kernel, two.other->kernel);
  EXPECT_GT(two.own.ms.n, 0);
  EXPECT_GT(two.other->ms.n, 0);
}

TEST(CellBench, AStopEndsACellWithoutAFigure) {
  Course course;
  CellBench bench = course.bench([] { return true; });
  EXPECT_THROW(bench.run(cell_of({64, 48, 32}), quick_protocol()), Stopped);
}

TEST(CellBench, ASweepTimesTheChoiceAndAllThatComeNear) {
  Course course;
  CellBench bench(test_device(), course.timer, nullptr);
  const SweptCell swept = bench.sweep(cell_of({128, 128, 64, kF32Types}));
  EXPECT_EQ(swept.reason, "");
  ASSERT_GT(swept.configs.size(), 1u);
  std::set<std::string> names;
  for (const SweptConfig& config : swept.configs) {
    EXPECT_EQ(config.reason, "");
    EXPECT_GT(config.ms.n, 0);
    EXPECT_TRUE(names.insert(config.kernel).second) << config.kernel << " twice";
    EXPECT_LE(config.expected.total(), kSweptWithin * swept.configs.front().expected.total());
    EXPECT_GE(config.expected.total(), swept.configs.front().expected.total());
  }
}

}  // namespace
}  // namespace tessera::lab
