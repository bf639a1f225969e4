// Tuning on the virtual GPU's kernels with a clock that is known: which plan is kept, and what the
// overlay's file then holds.
#include "lab/tune/tuner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <string>

#include "gemm/overlay/overlay_file.h"
#include "gemm/plan/plan.h"
#include "lab/verify/stop.h"
#include "tests/support/test_device.h"

namespace tessera::lab {
namespace {

// The path of a file in a folder that is there for one test.
class OverlayPath {
 public:
  OverlayPath() {
    std::string name = (std::filesystem::temp_directory_path() / "tuner_test_XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
    folder_ = name;
  }
  ~OverlayPath() { std::filesystem::remove_all(folder_); }
  OverlayPath(const OverlayPath&) = delete;
  OverlayPath& operator=(const OverlayPath&) = delete;
  std::string text() const { return folder_ / "new/overlay"; }

 private:
  std::filesystem::path folder_;
};

// A clock that advances only where the test says so: by a time for each group between two marks.
// Times are long, since a long call is timed a few times only.
class DrawnTimer : public Timer {
 public:
  explicit DrawnTimer(std::vector<double> ms) : ms_(std::move(ms)) {}
  std::uint64_t mark() override { return marks_++; }
  double milliseconds_between(std::uint64_t begin, std::uint64_t) override {
    return ms_[begin % ms_.size()];
  }
  void synchronize() override {}
  void idle(double) override {}

 private:
  std::vector<double> ms_;
  std::uint64_t marks_ = 0;
};

gemm::CallToPlan small_call() {
  return {with_default_ld({16, 24, 8, kF32Types}), {}, gemm::kAnyWorkspace};
}

TEST(Tuner, MeasuresEachPlanOnceAndRightly) {
  DrawnTimer timer({400});
  Tuner tuner(test_device(), timer, {.within = 1.2});
  const TunedCall tuned = tuner.tune(small_call());
  EXPECT_EQ(tuned.reason, "");
  ASSERT_GT(tuned.plans.size(), 1u);
  std::set<std::string> names;
  for (const MeasuredPlan& plan : tuned.plans) {
    EXPECT_EQ(plan.reason, "");
    EXPECT_TRUE(plan.is_final) << "all are as fast";
    EXPECT_TRUE(names.insert(plan.plan).second);
    EXPECT_LE(plan.expected_us, 1.2 * tuned.plans.front().expected_us);
  }
  EXPECT_EQ(tuned.best, 0u) << "where nothing is faster the model's choice stays";
  EXPECT_DOUBLE_EQ(tuned.entry().us, 400000);
  EXPECT_DOUBLE_EQ(tuned.entry().by_model_us, 400000);
  EXPECT_EQ(tuned.key, gemm::key_of(small_call()));
}

TEST(Tuner, KeepsTheFastest) {
  DrawnTimer timer({1700, 900, 1100, 2500, 400, 1300, 800});
  Tuner tuner(test_device(), timer, {.within = 1.5});
  const TunedCall tuned = tuner.tune(small_call());
  ASSERT_EQ(tuned.reason, "");
  const MeasuredPlan& best = tuned.plans[tuned.best];
  ASSERT_TRUE(best.is_final);
  ASSERT_TRUE(tuned.plans.front().is_final) << "the model's choice is always in the second pass";
  for (const MeasuredPlan& plan : tuned.plans) {
    EXPECT_TRUE(!plan.is_final || plan.ms.median >= 0.99 * best.ms.median);
  }
}

// WHY turns: which time is whose follows from how many plans a GPU's table offers.
TEST(Tuner, LeavesTheModelsChoiceForLessThanAPercent) {
  std::vector<double> times{401, 397.5, 399, 398, 400.5};
  bool is_one_faster = false;
  for (std::size_t i = 0; i < times.size(); ++i) {
    DrawnTimer timer(times);
    Tuner tuner(test_device(), timer, {.within = 1.5});
    const TunedCall tuned = tuner.tune(small_call());
    ASSERT_EQ(tuned.reason, "");
    for (const MeasuredPlan& plan : tuned.plans) {
      is_one_faster |= plan.is_final && plan.ms.median < tuned.plans.front().ms.median;
    }
    EXPECT_EQ(tuned.best, 0u);
    std::rotate(times.begin(), times.begin() + 1, times.end());
  }
  EXPECT_TRUE(is_one_faster) << "else nothing is tested";
}

TEST(Tuner, ACallThatCannotBeTunedHasAReason) {
  DrawnTimer timer({400});
  Tuner tuner(test_device(), timer, {.within = 1.2});
  gemm::CallToPlan call = small_call();
  call.problem.epilogue = parse_epilogue("scale_col");
  EXPECT_NE(tuner.tune(call).reason.find("without a scale"), std::string::npos);
  call = small_call();
  call.problem.k = 0;
  EXPECT_NE(tuner.tune(call).reason, "");
  call = small_call();
  call.problem.types = kE4m3Types;
  EXPECT_NE(tuner.tune(call).reason, "");
}

TEST(Tuner, OfCallsWithAllThatTheyMayHave) {
  DrawnTimer timer({400});
  Tuner tuner(test_device(), timer, {.within = 1.2});
  gemm::CallToPlan call = small_call();
  call.problem.beta = 1;
  call.problem.ldc = 32;
  call.alignment = {4, 4, 4, 4};
  EXPECT_EQ(tuner.tune(call).reason, "");
  EXPECT_EQ(tuner.tune(call).key, gemm::key_of(call)) << "C's own leading dimension";
  call = small_call();
  call.problem.batch = {BatchKind::kStrided, 3, 16 * 8, 8 * 24, 16 * 24, 16 * 24};
  EXPECT_EQ(tuner.tune(call).reason, "");
  call.problem.batch = {.kind = BatchKind::kPointers, .count = 3, .alignment = 16};
  EXPECT_EQ(tuner.tune(call).reason, "");
}

TEST(TuneAll, WritesEachEntryAndKeepsTheOthers) {
  const OverlayPath file;
  const std::string path = file.text();
  const gemm::OverlayOrigin here{"virtual", "1.0", "0123"};
  DrawnTimer timer({400});
  Tuner tuner(test_device(), timer, {.within = 1.2});
  gemm::CallToPlan other = small_call();
  other.problem = with_default_ld({16, 8, 16, kF64Types});
  std::vector<std::size_t> steps;
  const TuneAll all{here, path, {}, [&](std::size_t done, const gemm::CallToPlan&) {
                      EXPECT_EQ(gemm::read_overlay(path).entries.size(), done);
                      steps.push_back(done);
                    }};
  const std::vector<TunedCall> done = all.run(tuner, {small_call(), other});
  ASSERT_EQ(done.size(), 2u);
  EXPECT_EQ(steps, (std::vector<std::size_t>{0, 1}));
  gemm::Overlay overlay = gemm::read_overlay(path);
  ASSERT_EQ(overlay.entries.size(), 2u) << overlay.ignored;
  EXPECT_EQ(overlay.origin.driver, "1.0");
  EXPECT_EQ(overlay.entries.at(done[0].key).plan, done[0].plans[0].plan);

  // And the library takes it.
  gemm::DeviceLimits limits = gemm::limits_of(test_device().info());
  limits.overlay = &overlay;
  EXPECT_TRUE(gemm::plan(other.problem, {}, limits).tuned.is_taken());

  const TuneAll newer{{"virtual", "1.0", "4567"}, path, {}, {}};
  newer.run(tuner, {other});
  EXPECT_EQ(gemm::read_overlay(path).entries.size(), 1u) << "those of another library are dropped";
}

TEST(TuneAll, AStopKeepsWhatThereIs) {
  const OverlayPath file;
  const std::string path = file.text();
  DrawnTimer timer({400});
  bool stop = false;
  Tuner tuner(test_device(), timer, {.within = 1.2, .stop = [&] { return stop; }});
  const TuneAll all{
      {"virtual", "", "0123"}, path, {}, [&](std::size_t done, const gemm::CallToPlan&) {
        stop = done == 1;
      }};
  gemm::CallToPlan other = small_call();
  other.problem = with_default_ld({16, 8, 16, kF32Types});
  EXPECT_EQ(all.run(tuner, {small_call(), other, other}).size(), 1u);
  EXPECT_EQ(gemm::read_overlay(path).entries.size(), 1u);
  const TuneAll none{{"virtual", "", "0123"}, path, [] { return true; }, {}};
  EXPECT_TRUE(none.run(tuner, {other}).empty());
}

}  // namespace
}  // namespace tessera::lab
