// What check assumes of a launch where the program tells nothing: sizes that go together, as many
// dimensions and threads as the kernel is written for, and enough shared memory. And what it leaves
// as the program tells it.
#include "check/propose/candidates.h"
#include "tests/check/propose.h"

namespace tessera::checking {
namespace {

struct Sizes {
  static constexpr const char* kFile = "sizes.ptx";
};
using ProposeSizes = ProposeOf<Sizes>;

TEST_F(ProposeSizes, OthersAreTriedWhereAssumedOnesLetBlocksRace) {
  const Words words = proposed("transposes_tiles");
  expect_clean(words);
  EXPECT_EQ(after(words, "--grid"), "2,2");
  expect_shown("assumed: width = 64");
}

TEST_F(ProposeSizes, ARaceThatIsAlwaysThereIsTold) {
  const Words words = proposed("races_at_any_size");
  expect_shown("This call runs, and found: race");
  EXPECT_EQ(after(words, "--grid"), "4");
}

TEST_F(ProposeSizes, RanksInAGroupAskForNoMoreDimensions) {
  const Words words = proposed("counts_in_grid");
  expect_clean(words);
  EXPECT_EQ(after(words, "--grid"), "4");
  EXPECT_EQ(after(words, "--block"), "256");
}

TEST_F(ProposeSizes, MoreSharedMemoryIsTriedWhereItIsTooSmall) {
  const Words words = proposed("fills_shared");
  expect_clean(words);
  EXPECT_EQ(after(words, "--shared"), "98304");
  expect_shown("sizes.cu:52; assumed: shared 98304");
}

TEST_F(ProposeSizes, ATemplateArgumentMayBeTheSizeOfTheBlock) {
  const Words words = proposed("turns_around");
  expect_clean(words);
  EXPECT_EQ(after(words, "--block"), "96");
}

TEST_F(ProposeSizes, WhatEveryCallLacksIsToldSoon) {
  EXPECT_TRUE(proposed_of("maps.ptx", "by_pointer").empty());
  expect_shown(
      "\n8 calls were tried, and none came to its end (the first: there is no tensor map at");
  expect_shown("as NAME=pointer(tensormap(ARRAY, BOX))");
}

// The program's own launch is what is shown, though it ends in a fault and others do not.
struct OwnFaults {
  static constexpr const char* kFile = "own_faults.ptx";
};
class ProposeOwnFaults : public ProposeOf<OwnFaults> {
 protected:
  static void expect_fault(const std::string& kernel, const std::string& check,
                           const Words& parts) {
    proposed(kernel);
    expect_shown("\nThis call ends in a fault; found: " + check + " (from " + kernel + "<<<");
    EXPECT_FALSE(contains(shown_, "instead of") || contains(shown_, "assumed")) << shown_;
    const Words words = words_below("This call ends in a fault");
    expect_words(words, parts);
    ASSERT_GT(words.size(), 2u) << shown_;
    const Ran ran = run_program({words.begin() + 1, words.end()});
    EXPECT_EQ(ran.code, 1) << ran.out;
    EXPECT_TRUE(contains(ran.out, "error: " + check)) << ran.out;
  }
};

TEST_F(ProposeOwnFaults, ThatOnlyTheProgramsValuesShow) {
  expect_fault("scales_rows", "misaligned", {"cols=i32:1001", "m=f32[40040]:uniform"});
}
TEST_F(ProposeOwnFaults, SharedMemoryStaysAsLargeAsTheLaunchSays) {
  expect_fault("adds_neighbours", "out-of-bounds", {"524", "out=f32[5000]"});
}
TEST_F(ProposeOwnFaults, BlocksStayAsLargeAsTheLaunchSays) {
  expect_fault("reverses", "out-of-bounds", {"512"});
}
TEST_F(ProposeOwnFaults, AFlagThatNobodySets) { expect_fault("hands_over", "deadlock", {"2"}); }
TEST_F(ProposeOwnFaults, IntegersWithWhichItRunsAreTaken) {
  expect_clean(proposed("looks_up"));
  expect_shown("index=i32[5000]:zeros");
}
TEST_F(ProposeOwnFaults, NotWhereAConditionKeepsTheProgramFromIt) {
  expect_clean(proposed("scales_whole_rows"));
}

struct Indices {
  static constexpr const char* kFile = "indices.ptx";
};
using ProposeIndices = ProposeOf<Indices>;

TEST_F(ProposeIndices, ValuesStandSeveralTimes) {
  const Words words = proposed("counts_values");
  expect_shown("This call runs, and found: ");
  expect_shown("values=i32[4096]:repeated");
}
TEST_F(ProposeIndices, OnceWhereTheyArePlacesToStoreTo) {
  expect_clean(proposed("scatters"));
  expect_shown("places=i32[4096]:shuffled");
}
TEST_F(ProposeIndices, OursSayNothingOfTheLengthOfAnArray) {
  expect_clean(proposed("multiplies_sparse"));
  expect_shown("rows=i32[4097]:iota");
  expect_shown("x=f32[100]:uniform");
}

class SizesText : public HostText {};

TEST_F(SizesText, ConstantDims) {
  EXPECT_EQ(whole("int main() { dim3 const b{8U, 4U, 2U}; }", "b.y"), 4);
  EXPECT_EQ(whole("int main() { const dim3 b(8, 4); }", "b.x"), 8);
}

TEST_F(SizesText, AVariableOfAnotherFunctionIsNotTheGlobalOne) {
  const std::string main = "int main() {}\nvoid ask(int& v) { v = rank(); }\n";
  const std::string other = "void other() { int size; ask(size); }\n";
  EXPECT_EQ(whole("const int size = 4096;\n" + main + other, "size"), 4096);
  EXPECT_EQ(whole(main + other + "static constexpr int size{4096};\n", "size"), 4096);
  EXPECT_EQ(whole("int size = 4096;\n" + main + other, "size"), 4096);
  EXPECT_EQ(whole("int size = 4096;\n" + main + "void other(int size) { ask(size); }", "size"),
            4096);
  EXPECT_EQ(
      whole("int size = 4096;\n" + main + "void other() { int size = 5; ask(size); }", "size"),
      4096);
  EXPECT_EQ(whole("const int size = 4096;\n" + main + "void other() { int size = 5; }", "size"),
            4096);
  EXPECT_FALSE(value("int size = 4096;\n" + main + "void other() { ask(size); }", "size"));
  EXPECT_FALSE(value(main + other, "size"));
  EXPECT_EQ(whole("const int size(4096);\n" + main + other, "size"), 4096);
  const std::string before = "int size = 4096;\n",
                    function = "const int size(int rank) { return 5; }\n";
  EXPECT_FALSE(value(before + function + main + "void go() { ask(size); }", "size"))
      << "a function is no constant";
}

TEST_F(SizesText, DimensionsThatFunctionsOfTheKernelReadAreTried) {
  const auto dimensions = [&](const std::string& text, const std::string& body) {
    value(text + " __global__ void k(float* x) { auto b = this_thread_block(); " + body + " }",
          "0");
    vgpu::KernelSignature kernel;
    kernel.name = "k";
    const KernelFacts facts =
        facts_of(kernel, ".entry k(\n%ctaid.y %ctaid.z %tid.y %tid.z\n}", *source_);
    return std::string(facts.grids_y ? "y" : "") + (facts.grids_z ? "z" : "") +
           (facts.uses_y ? "Y" : "") + (facts.uses_z ? "Z" : "");
  };
  EXPECT_EQ(dimensions("", "x[b.thread_rank()] = 1;"), "");
  EXPECT_EQ(dimensions("", "x[blockIdx.y] = 1;"), "yY");
  const std::string row = "__device__ int row() { return blockIdx.y; }\n";
  EXPECT_EQ(dimensions(row, "x[row()] = 1;"), "yY");
  EXPECT_EQ(dimensions(row, "x[0] = 1;"), "") << "not called";
  EXPECT_EQ(dimensions(row + "template <int N> __device__ int deep() { return row() * N; }",
                       "x[deep<4>() + threadIdx.z] = 1;"),
            "yzYZ");
  EXPECT_EQ(dimensions("#define PLANE blockIdx.z\n", "x[PLANE] = 1;"), "zZ");
  EXPECT_EQ(dimensions("__device__ int itself(int n) { return itself(n); }", "x[itself(1)] = 1;"),
            "");
}

TEST_F(SizesText, NoNumberStandsForDims) {
  EXPECT_FALSE(value("int main() { dim3 b(unknown.width); int n(other); }", "b"));
  EXPECT_EQ(evaluator_->free.count("b"), 0u);
  EXPECT_FALSE(value("int main() { dim3 b(unknown.width); int n(other); }", "n"));
  EXPECT_EQ(evaluator_->free.count("n"), 1u);
}

TEST_F(SizesText, EveryCaseOfASwitchGivesItsKernel) {
  const std::string kernels = "__global__ void k(int* x) {}\n __global__ void l(int* x) {}\n";
  const auto launched = [&](const std::string& text) {
    value(kernels + "int main() { void (*f)(int*); " + text + " f<<<4, 32>>>(x); }", "0");
    std::string names;
    for (const LaunchSite& site : source_->launches()) names += site.kernel + " ";
    return names;
  };
  EXPECT_EQ(launched("switch (i) { case 0: f = &k; break; case 1: f = &l; break; }"), "l k ");
  EXPECT_EQ(launched("f = &k; f = &l;"), "l ");
}

}  // namespace
}  // namespace tessera::checking
