// How large the call is that check proposes: with the program's own values where they take few
// instructions, else with less of what the grid depends on; and arrays as the program allocates
// them.
#include "check/propose/guess.h"
#include "check/propose/levels/halvings.h"
#include "tests/check/propose.h"

namespace tessera::checking {
namespace {

TEST(Halvings, TheLargestFirst) {
  const std::vector<Values> levels = halvings_of({{"rows", 256}, {"cols", 100}, {"few", 4}});
  const auto at = [&](std::size_t i) {
    return std::vector{levels[i].at("rows"), levels[i].at("cols"), levels[i].at("few")};
  };
  EXPECT_EQ(at(0), (std::vector<std::int64_t>{256, 100, 4}));
  EXPECT_EQ(at(1), (std::vector<std::int64_t>{128, 100, 4}));
  EXPECT_EQ(at(2), (std::vector<std::int64_t>{64, 100, 4}));
  EXPECT_EQ(at(3), (std::vector<std::int64_t>{64, 50, 4}));
  EXPECT_EQ(at(levels.size() - 1), (std::vector<std::int64_t>{16, 16, 4}));
}
TEST(Halvings, WhatIsSquareStaysSquare) {
  for (const Values& level : halvings_of({{"m", 4096}, {"n", 4096}})) {
    EXPECT_EQ(level.at("m"), level.at("n"));
  }
}

struct Widths {
  static constexpr const char* kFile = "widths.ptx";
};
using ProposeWidths = ProposeOf<Widths>;

std::int64_t number_after(const std::string& text, const std::string& before) {
  const std::size_t at = text.find(before);
  return at == text.npos ? -1 : std::atoll(text.c_str() + at + before.size());
}

TEST_F(ProposeWidths, RowsAreHalvedAndTheWidthStays) {
  const Words words = proposed("center");
  expect_clean(words);
  expect_words(words, {"cols=i32:768"});
  // No further than is needed, and the same on every machine.
  EXPECT_EQ(after(words, "--grid"), "4096");
  expect_shown(", with rows = 4096 instead of 4194304):");
}
TEST_F(ProposeWidths, ALoopThatTakesTooLongIsMadeShorter) {
  const Words words = proposed("polynomial");
  expect_words(words, {"terms=i32:65536"});
  expect_shown("terms = 65536 instead of 1073741824):");
}
TEST_F(ProposeWidths, TheProgramsOwnValuesWhereTheyAreFew) {
  EXPECT_EQ(after(proposed("steps<8>"), "--grid"), "32");
  EXPECT_FALSE(contains(shown_, "instead of")) << shown_;
}
TEST_F(ProposeWidths, WhichCaseOfASwitchIsSaid) {
  proposed("steps<8>");
  expect_shown(", case 2 of switch (which)):");
  proposed("steps<2>");
  expect_shown(", default of switch (which)):");
  proposed_of("macros.ptx", "head<64, true>");
  expect_shown(", case 64 of switch (size)):");
}
TEST_F(ProposeWidths, WhatTheGivenGridIsMadeOfIsNotHalved) {
  const Words words = proposed("center", {"--grid", "3"});
  expect_clean(words);
  expect_words(words, {"in=f32[2304]:uniform"});
  EXPECT_FALSE(contains(shown_, "instead of")) << shown_;
}
TEST_F(ProposeWidths, IntegersAreNotSortedUnlessTheyAreReadAsRanges) {
  const Words keys = proposed("sort_pairs");
  expect_clean(keys);
  EXPECT_TRUE(after(keys, "--arg").ends_with("]:repeated")) << shown_;
  const Words begins = proposed("lengths");
  expect_clean(begins);
  expect_shown("begins=i32[1025]:iota");
}
TEST_F(ProposeWidths, ACallForEachInstantiationOfATemplate) {
  const Ran ran = check({kFolder + Widths::kFile, "--kernel", "steps"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_TRUE(ran.err.starts_with("tessera check: --kernel is 'steps', which names 3 kernels of"))
      << ran.err;
  for (const char* one :
       {"\nsteps<4>: this call runs", "\nsteps<8>: this call runs", "\nsteps<2>: this call runs"}) {
    EXPECT_TRUE(contains(ran.err, one)) << one << ran.err;
  }
  EXPECT_FALSE(contains(ran.err, "center")) << ran.err;
}
TEST_F(ProposeWidths, CountersBeginWithZeros) {
  proposed_of("macros.ptx", "count");
  expect_shown("counts=u32[8]:zeros");
  expect_shown("keys=i32[65536]:repeated");
}
TEST_F(ProposeWidths, ASmallerGridIsSaid) {
  const Words words = proposed("touch");
  const std::string grid = after(words, "--grid");
  EXPECT_LT(number_after(grid, ""), 1 << 16) << shown_;
  expect_shown("; grid 65536,4096 tried as " + grid +
               ": no variable of the program makes it smaller)");
}

TEST_F(ProposeWidths, ArraysThatTheProgramMakesTooShort) {
  const Ran ran = check({kFolder + Widths::kFile, "--kernel", "sum_rows"});
  shown_ = ran.err;
  expect_shown(
      "\nThis call reads or writes outside its arrays; found: out-of-bounds (from sum_rows<<<");
  expect_shown(
      "; of in the program allocates 73728 elements (few * cols * sizeof(float)), and the kernel "
      "reaches 73729):");
  const Words words = words_below("This call reads or writes outside");
  expect_words(words, {"in=f32[73728]:uniform", "cols=i32:768"});
  ASSERT_GT(words.size(), 2u) << shown_;
  const Ran run = run_program({words.begin() + 1, words.end()});
  EXPECT_EQ(run.code, 1) << run.out;
  EXPECT_TRUE(contains(run.out, "error: out-of-bounds")) << run.out;
}

class AllocatedText : public HostText {
 protected:
  // What is read of d, and whether that is certain.
  std::string of(const std::string& text) {
    const auto kernel = value("__global__ void k(float* x) {}\nint main() { int n = 100, m = 8; " +
                                  text + " k<<<1, 1>>>(d); }",
                              "0");
    EXPECT_TRUE(kernel);
    const LaunchSite& site = source_->launches().at(0);
    const Scope scope{source_->around(site.at), site.at, {}};
    const auto found = allocated(*source_, *evaluator_, site.arguments.at(0), scope, 4);
    if (!found) return "none";
    return std::to_string(found->elements) + (found->is_certain ? "" : " or more");
  }
};

TEST_F(AllocatedText, IsCertainOnlyWhereNothingElseIsTold) {
  EXPECT_EQ(of("float* d; cudaMalloc(&d, n * 4);"), "100");
  EXPECT_EQ(of("float* d = nullptr; cudaMalloc((void**)&d, n * sizeof(float));"), "100");
  EXPECT_EQ(of("float* d; cudaMalloc(&d, n * 4); cudaMalloc(&d, m * 4);"), "100 or more");
  EXPECT_EQ(of("float* d; cudaMalloc(&d, n * 4); d = other;"), "100 or more");
  EXPECT_EQ(of("float* d; cudaMalloc(&d, n * 4); d += 8;"), "100 or more");
  EXPECT_EQ(of("float* d; cudaMalloc(&s.d, n * 4);"), "100 or more");
  EXPECT_EQ(of("float* d; cudaMalloc(&d, unknown * 4);"), "none");
}

}  // namespace
}  // namespace tessera::checking
