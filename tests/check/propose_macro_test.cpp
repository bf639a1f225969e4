// Launches that a program makes by macros of its own: what check reads of them, that macros which
// never end do no harm, and that what it proposes of them runs.
#include "tests/check/propose.h"

namespace tessera::checking {
namespace {

class MacroText : public LaunchText {
 protected:
  std::string in_main(const std::string& macros, const std::string& text) {
    return only(macros + "\nint main() { " + text + " }");
  }
  // The values of a launch's template arguments, and of its block.
  std::vector<std::int64_t> values_of(const LaunchSite& site) {
    std::vector<TokenRange> words = site.template_arguments;
    words.push_back(site.shape.at(1));
    std::vector<std::int64_t> values;
    for (const TokenRange& one : words) {
      const auto found = evaluator_->value(one, {source_->around(site.at), site.at, {}});
      values.push_back(found ? found->whole() : -999);
    }
    return values;
  }
  using Values = std::vector<std::int64_t>;
};

TEST_F(MacroText, ArgumentsReplaceParameters) {
  const std::string run = "#define RUN(T, B)       \\\n  t<T, B><<<n / B, B>>> \\\n      (x, n)";
  EXPECT_EQ(in_main(run, "RUN(float, 64);"), "t<<<n / 64, 64>>> | float; 64; | x; n;");
  EXPECT_EQ(in_main(run, "RUN(unsigned int, (32 * 2));"),
            "t<<<n /(32 * 2), (32 * 2)>>> | unsigned int; (32 * 2); | x; n;");
  EXPECT_EQ(source_->launches()[0].line, 6) << "of the use";
  EXPECT_EQ(in_main("#define RUN(K, ...) K<<<1, 2>>>(__VA_ARGS__)", "RUN((t<float, 8>), x, n);"),
            "t<<<1, 2>>> | float; 8; | x; n;");
  EXPECT_EQ(in_main("#define RUN(B, rest...) k<<<1, B>>>(x, ##rest)", "RUN(2);"),
            "k<<<1, 2>>> | | x;");
  EXPECT_EQ(in_main("#define RUN(B, ...) k<<<1, B>>>(x __VA_OPT__(, ) __VA_ARGS__)", "RUN(2, n);"),
            "k<<<1, 2>>> | | x; n;");
  EXPECT_EQ(in_main("#define RUN(B, ...) k<<<1, B>>>(x __VA_OPT__(, ) __VA_ARGS__)", "RUN(2);"),
            "k<<<1, 2>>> | | x;");
}
TEST_F(MacroText, WordsAreJoined) {
  EXPECT_EQ(
      in_main("#define RUN(NAME) NAME##_kernel<<<1, SIZE_OF_##NAME>>>(x, #NAME)", "RUN(add);"),
      "add_kernel<<<1, SIZE_OF_add>>> | | x; \"add\";");
  const std::string define =
      "#define DEFINE(NAME, OP) \\\n"
      "  __global__ void NAME##_kernel(float* y) { y[0] = y[0] OP 2; } \\\n"
      "  void NAME(float* y) { NAME##_kernel<<<3, 4>>>(y); }\n"
      "DEFINE(twice, *)\nDEFINE(half, /)\n";
  ASSERT_EQ(launches(define + "int main() { twice(x); }").size(), 2u);
  EXPECT_EQ(source_->launches()[1].text(), "half_kernel<<<3, 4>>>");
  ASSERT_NE(source_->kernel("half_kernel"), nullptr);
  EXPECT_EQ(source_->kernel("half_kernel")->parameters.at(0).name, "y");
}
TEST_F(MacroText, WordsAreJoinedToArgumentsOfNoWords) {
  EXPECT_EQ(in_main("#define RUN(SPACE, NAME) do { SPACE##NAME<<<4, 96>>>(x, n); } while (0)",
                    "RUN(, k);"),
            "k<<<4, 96>>> | | x; n;");
  EXPECT_EQ(in_main("#define RUN(A, B) { A##B##k##B<<<4, 96>>>(x, A##B); }", "RUN(, );"),
            "k<<<4, 96>>> | | x; ;");
  EXPECT_EQ(in_main("#define RUN(A, ...) k<<<4, 96>>>(x, A##__VA_ARGS__)", "RUN(, n);"),
            "k<<<4, 96>>> | | x; n;");
}
TEST_F(MacroText, MacrosWithoutArgumentsAndOtherNames) {
  EXPECT_EQ(in_main("#define SHAPE <<<4, 32>>>", "k SHAPE (x, n);"), "k<<<4, 32>>> | | x; n;");
  EXPECT_EQ(in_main("#define GO(B) k<<<1, B>>>(x)\n#define RUN GO", "RUN(96);"),
            "k<<<1, 96>>> | | x;");
  EXPECT_EQ(launches("#define EACH(X) X(1) X(2)\n#define RUN(B) k<<<1, B>>>(x);\n"
                     "int main() { EACH(RUN) }")
                .size(),
            2u);
  EXPECT_EQ(source_->launches()[1].text(), "k<<<1, 2>>>");
}
TEST_F(MacroText, TheDefinitionThatHoldsCounts) {
  const auto& sites = launches(
      "#define RUN k<<<1, 32>>>(x)\nvoid one() { RUN; }\n#undef RUN\n"
      "#define RUN k<<<1, 64>>>(x)\nvoid two() { RUN; }\n#undef RUN\nvoid three() { RUN; }\n"
      "int main() { one(); }");
  ASSERT_EQ(sites.size(), 2u);
  EXPECT_EQ(sites[0].text(), "k<<<1, 32>>>");
  EXPECT_EQ(sites[1].text(), "k<<<1, 64>>>");
}
TEST_F(MacroText, DispatchInASwitchAndByFlags) {
  const std::string text =
      "template <int A, bool F> __global__ void u(float* x) {}\n"
      "#define CASE(SIZE, NAME, ...) \\\n"
      "  case SIZE: { constexpr int NAME = SIZE; __VA_ARGS__(); break; }\n"
      "#define DISPATCH(SIZE, NAME, ...) \\\n"
      "  switch (SIZE) { CASE(32, NAME, __VA_ARGS__) CASE(64, NAME, __VA_ARGS__) }\n"
      "#define FLAG(IS, NAME, ...) \\\n"
      "  [&] { if (IS) { constexpr bool NAME = true; return __VA_ARGS__(); } \\\n"
      "        else { constexpr bool NAME = false; return __VA_ARGS__(); } }()\n"
      "int main() { DISPATCH(size, kHead, [&] { FLAG(last, kLast, [&] {\n"
      "  const int a = 1, b = 2;\n"
      "  u<kHead, kLast><<<a, kHead * b>>>(x); }); }); }";
  const auto& sites = launches(text);
  ASSERT_EQ(sites.size(), 4u);
  EXPECT_EQ(values_of(sites[0]), (Values{32, 1, 64}));
  EXPECT_EQ(values_of(sites[1]), (Values{32, 0, 64}));
  EXPECT_EQ(values_of(sites[2]), (Values{64, 1, 128}));
  EXPECT_EQ(values_of(sites[3]), (Values{64, 0, 128}));
}
// A macro of a header that is not here: the lambda is read where it is.
TEST_F(MacroText, LambdasOfMacrosThatNobodyKnows) {
  EXPECT_EQ(in_main("",
                    "AT_DISPATCH_FLOATING_TYPES(in.type(), \"name\", [&] { "
                    "t<scalar_t, 4><<<1, 2>>>(x, n); });"),
            "t<<<1, 2>>> | scalar_t; 4; | x; n;");
}
TEST_F(MacroText, MacrosThatDropALaunchStayAsTheyAreWritten) {
  EXPECT_EQ(in_main("#define TIMED(x)", "TIMED(k<<<1, 2>>>(x));"), "k<<<1, 2>>> | | x;");
  EXPECT_EQ(in_main("#define TIMED(x) begin(); x; end(#x)", "TIMED(k<<<1, 2>>>(x));"),
            "k<<<1, 2>>> | | x;");
}
TEST_F(MacroText, MacrosWithoutAnEndDoNoHarm) {
  const std::string launch = "k<<<1, 2>>>(x)";
  EXPECT_EQ(in_main("#define A(x) A(x); k<<<1, 2>>>(x)", "A(x);"), "k<<<1, 2>>> | | x;");
  EXPECT_EQ(in_main("#define A(x) B(x)\n#define B(x) A(x); " + launch, "A(x);"),
            "k<<<1, 2>>> | | x;");
  EXPECT_EQ(in_main("#define A B\n#define B A k<<<1, 2>>>", "A(x);"), "k<<<1, 2>>> | | x;");
  std::string tower = "#define A0(x) k<<<1, 2>>>(x);\n";
  for (int i = 1; i < 60; ++i) {
    const std::string below = "A" + std::to_string(i - 1) + "(x)";
    tower += "#define A" + std::to_string(i) + "(x) " + below + " " + below + "\n";
  }
  EXPECT_EQ(launches(tower + "int main() { A59(x) A1(x) }").size(), 0u) << "2^59 launches";
  const std::string path = testing::TempDir() + "/macro_text.cu";
  write_text(path, "#define A(x) " + launch + "\nint main() { A(x; }");
  EXPECT_TRUE(HostSource(path, {}).launches().empty());
  EXPECT_EQ(in_main("#define A(x) " + launch, "A(x, y, z); A; A();"), "k<<<1, 2>>> | |");
  EXPECT_EQ(in_main("#define A(x, y) x ## ", "A(k<<<1, 2>>>(x), 0);"), "k<<<1, 2>>> | | x;");
  EXPECT_EQ(in_main("#define A(x) ## x", "A(k)<<<1, 2>>>(x);"), "k<<<1, 2>>> | | x;");
  EXPECT_EQ(in_main("#define A(...) __VA_OPT__(", "A(k<<<1, 2>>>(x));"), "k<<<1, 2>>> | | x;");
  launches(
      "#define\n#define 1\n#undef\n#define A(\n#define B(x\n#define C(.) k<<<1, 2>>>(x)\n"
      "int main() { A B C(1) }");
}

struct Macros {
  static constexpr const char* kFile = "macros.ptx";
};
using ProposeMacros = ProposeOf<Macros>;

TEST_F(ProposeMacros, TheTypeChoosesTheLaunch) {
  const Words words = proposed("scale<double>");
  expect_clean(words);
  EXPECT_EQ(after(words, "--block"), "160");
  expect_shown(
      "from scale<<<(n + 160 - 1) / 160, 160, 0, stream>>>, "
      "tests/check/kernels/macros.cu:67");
  expect_clean(proposed("scale<float>"));
  EXPECT_EQ(after(words_below("This call runs"), "--block"), "64");
}
TEST_F(ProposeMacros, ADispatchBySizeAndFlag) {
  const Words words = proposed("head<64, true>");
  expect_clean(words);
  EXPECT_EQ(after(words, "--block"), "64");
  EXPECT_EQ(after(words, "--grid"), "48");
  EXPECT_FALSE(contains(shown_, "Other launches")) << "the same line, four times: " << shown_;
  EXPECT_EQ(after(proposed("head<32, false>"), "--block"), "32");
}
TEST_F(ProposeMacros, AKernelAndItsLauncherByOneMacro) {
  const Words words = proposed("subtract_kernel");
  expect_clean(words);
  EXPECT_EQ(after(words, "--block"), "96");
  EXPECT_NE(std::find(words.begin(), words.end(), "y=f32[65536]:uniform"), words.end()) << shown_;
}
TEST_F(ProposeMacros, ALaunchThatIsChecked) {
  const Words words = proposed("count");
  expect_clean(words);
  EXPECT_EQ(after(words, "--block"), "128");
  expect_shown("tests/check/kernels/macros.cu:100");
}

}  // namespace
}  // namespace tessera::checking
