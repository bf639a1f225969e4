// Calls that check proposes to somebody who gave none: what it reads from the source, and that what
// it shows runs.
#include "tests/check/propose.h"

namespace tessera::checking {
namespace {

// ---- what a source says -------------------------------------------------------------------------

TEST_F(HostText, Arithmetic) {
  EXPECT_EQ(whole("", "1 + 2 * 3 - (8 >> 1) % 3"), 6);
  EXPECT_EQ(whole("", "1 << 4 | 3"), 19);
  EXPECT_EQ(whole("", "(7 + 4 - 1) / 4 * sizeof(double)"), 16);
  EXPECT_EQ(whole("", "5 > 4 ? 0x10 : 2"), 16);
  EXPECT_EQ(whole("", "-3 + !0"), -2);
  EXPECT_EQ(whole("", "(int)ceil((float)10 / 4)"), 3);
  EXPECT_EQ(whole("", "static_cast<unsigned>(1e3)"), 1000);
  EXPECT_EQ(whole("", "std::min(3, max(1, 2))"), 2);
  EXPECT_EQ(whole("", "4 / 0"), -999);
}
TEST_F(HostText, Names) {
  EXPECT_EQ(whole("#define N 12 // twelve\n", "N * 2"), 24);
  EXPECT_EQ(whole("#define CEIL(a, b) (((a) + (b) - 1) / (b))\n", "CEIL(9, 4)"), 3);
  EXPECT_EQ(whole("constexpr int up(int a, int b) { return (a + b - 1) / b; }", "up(9, 4)"), 3);
  EXPECT_EQ(whole("int main() { int n = 4; n = n * 2; int m{3}; n = n + m; }", "n"), 11);
  EXPECT_EQ(whole("int main() { int n = 0; read(&n); n = scaled(n); }", "n"), -999);
  EXPECT_EQ(whole("int main() { int n = 8; n = scaled(n); }", "n"), 8);
  EXPECT_EQ(whole("int main() { const int a = 4, b = a * 2; }", "b"), 8);
  EXPECT_EQ(whole("int sizes[] = {32, 64};", "sizes[1]"), 64);
  EXPECT_EQ(whole("/* int n = 1; */ int n = 2; // n = 3\n", "n"), 2);
  EXPECT_EQ(whole("#if 0\nint n = 1;\n#else\nint n = 2;\n#endif\n", "n"), 2);
  EXPECT_EQ(whole("#ifdef FAST\nint n = 1;\n#else\nint n = 2;\n#endif\n", "n"), 2);
}
TEST_F(HostText, Dimensions) {
  const std::string text = "int main() { dim3 block(8, 4); dim3 grid = dim3(100 / block.x, 2); ";
  EXPECT_EQ(whole(text + "}", "grid.x"), 12);
  EXPECT_EQ(whole(text + "grid.y = 7; }", "grid.y"), 7);
  EXPECT_EQ(whole(text + "}", "block.z"), 1);
  const auto dims = value(text + "}", "block");
  ASSERT_TRUE(dims && dims->dims);
  EXPECT_EQ(*dims->dims, (std::array<std::int64_t, 3>{8, 4, 1}));
}
TEST_F(HostText, VariablesOfTheProgramAndUnknownOnes) {
  EXPECT_EQ(whole("int main() { int n = 1 << 20; }", "n + unknown"), -999);
  EXPECT_EQ(evaluator_->roots, (std::map<std::string, std::int64_t>{{"n", 1 << 20}}));
  EXPECT_EQ(evaluator_->free, (std::set<std::string>{"unknown"}));
}
TEST_F(HostText, DefinitionsByThemselvesEnd) {
  EXPECT_EQ(whole("int n = n + n + n + n;", "n"), -999);
  EXPECT_EQ(whole("int f(int n) { return f(n) + f(n); }", "f(2)"), -999);
}
// What the device uses is not changed: its code would be another.
TEST_F(HostText, ConstantsOfKernelsAreNoVariables) {
  const std::string kernel = "__global__ void k(int* x) { x[N] = 0; }";
  EXPECT_EQ(whole("const int N = 64;" + kernel, "N"), 64);
  EXPECT_TRUE(evaluator_->roots.empty());
}

// ---- the command --------------------------------------------------------------------------------

struct Launches {
  static constexpr const char* kFile = "launches.ptx";
};
using ProposeLaunches = ProposeOf<Launches>;

TEST_F(ProposeLaunches, ShapeAndNumbersOfALaunchAreRead) {
  const Words words = proposed("scale");
  expect_clean(words);
  EXPECT_EQ(after(words, "--block"), "128");
  EXPECT_EQ(after(words, "--grid"), "2048");
  expect_words(words, {"data=f32[262144]:uniform", "factor=f32:0.5", "n=i32:262144"});
  expect_shown("from scale<<<ceil_div(n, block), block>>>, ");
  expect_shown("launches.cu:58):");
}
TEST_F(ProposeLaunches, WhatIsGivenStays) {
  const Words words =
      proposed("scale", {"--grid", "3", "--block", "64", "--arg", "v=f32[192]:ones"});
  expect_clean(words);
  EXPECT_EQ(after(words, "--grid"), "3");
  EXPECT_EQ(after(words, "--block"), "64");
  EXPECT_EQ(after(words, "--arg"), "v=f32[192]:ones");
}
TEST_F(ProposeLaunches, BlocksOfTwoDimensions) {
  const Words words = proposed("flip");
  expect_clean(words);
  EXPECT_EQ(after(words, "--block"), "8,8");
  EXPECT_EQ(after(words, "--arg").rfind("out=f32[", 0), 0u);
  EXPECT_FALSE(contains(after(words, "--arg"), ":")) << "an output holds nothing at first";
}
TEST_F(ProposeLaunches, IndicesAreZeroWhereNumbersThatCountUpLeaveTheTable) {
  const Words words = proposed("look_up");
  expect_clean(words);
  expect_shown("index=i32[");
  expect_shown(":zeros");
  expect_shown("no launch of it is in the source");
}
TEST_F(ProposeLaunches, TheLaunchOfTheSameTemplateArguments) {
  const Words words = proposed("sum<256>");
  expect_clean(words);
  EXPECT_EQ(after(words, "--block"), "256");
  EXPECT_EQ(after(words, "--shared"), "1024");
  expect_shown("launches.cu:69");
}
TEST_F(ProposeLaunches, FieldsOfAStructGetWhatTheLaunchAssignsAndArrays) {
  const Words words = proposed("transposed");
  expect_clean(words);
  EXPECT_EQ(after(words, "--block"), "16,16");
  expect_shown("in=struct(i32:256, i32:128, in_elements)");
  expect_shown("out=struct(i32:128, i32:256, out_elements)");
  expect_shown("--array 'out_elements=f32[32768]'");
}
TEST_F(ProposeLaunches, TheCaseOfASwitchNamesTheThreads) {
  const Words words = proposed("sum<64>");
  expect_clean(words);
  EXPECT_EQ(after(words, "--block"), "64");
  EXPECT_EQ(after(words, "--shared"), "256");
}
TEST_F(ProposeLaunches, NothingThatDoesNotRun) {
  EXPECT_TRUE(proposed("wait_for_ever").empty()) << shown_;
  expect_shown("none came to its end (the first: ");
  expect_shown("For example:\n  tessera check ");
}
TEST_F(ProposeLaunches, ACallForEachKernelWhereNoneIsNamed) {
  const Ran ran = check({kFolder + Launches::kFile});
  EXPECT_EQ(ran.code, 2);
  EXPECT_TRUE(ran.err.starts_with("tessera check: --kernel is not given, and ")) << ran.err;
  std::size_t calls = 0;
  for (std::size_t at = 0; (at = ran.err.find("\n  tessera check ", at)) != ran.err.npos; ++at) {
    ++calls;
    expect_clean(words_of(ran.err.substr(at + 3, ran.err.find('\n', at + 3) - at - 3)));
  }
  EXPECT_EQ(calls, 6u) << ran.err;
  EXPECT_TRUE(contains(ran.err, "\nwait_for_ever: ")) << ran.err;
}

}  // namespace
}  // namespace tessera::checking
