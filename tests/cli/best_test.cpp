// --kernel best in every command that takes a problem: it is what `bench --why` puts first.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/support/beside.h"
#include "tests/support/program.h"

namespace tessera::cli {
namespace {

class Best : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(beside_test("tessera"))) GTEST_SKIP() << "no program here";
  }

  lab::Json first_candidate(const std::string& m, const std::string& type,
                            const std::string& layout = "NN") const {
    return json_of({"bench", "--why", "-m", m, "-n", "96", "-k", "64", "--type", type, "--layout",
                    layout, "--device", "virtual"})
        .at("problems")
        .at(0)
        .at("candidates")
        .at(0);
  }
  // "simt_f32/64x64"
  std::string first_of_why(const std::string& m, const std::string& type) const {
    const lab::Json first = first_candidate(m, type);
    return first.at("kernel").get<std::string>() + "/" + first.at("config").get<std::string>();
  }
};

std::string named(const lab::Json& record) {
  return record.at("kernel").get<std::string>() + "/" + record.at("config").get<std::string>();
}

TEST_F(Best, IsWhatTheLibraryTakesInEachCommand) {
  for (const std::string type : {"f32", "bf16"}) {
    const std::string best = first_of_why("120", type);
    const std::vector<std::string> shape = {"-m", "120", "-n", "96", "-k", "64", "--type", type};
    const auto with = [&](std::vector<std::string> words) {
      words.insert(words.end(), shape.begin(), shape.end());
      return words;
    };
    const lab::Json verified =
        json_of(with({"verify", "--kernel", "best", "--device", "virtual"})).at("runs").at(0);
    EXPECT_EQ(named(verified), best);
    EXPECT_EQ(verified.at("verified"), "full");
    EXPECT_EQ(named(json_of(with({"explain", "best"})).at("explained").at(0)), best);
    EXPECT_EQ(
        named(json_of(with({"bench", "--kernel", "best", "--device", "virtual"})).at("runs").at(0)),
        best);
    EXPECT_EQ(
        named(
            json_of(with({"ladder", "--kernel", "best", "--device", "virtual"})).at("runs").at(0)),
        best);
  }
  const std::string best = first_of_why("120", "f32");
  const std::string kernel = best.substr(0, best.find('/'));
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"compare", "06", "best", "--no-diff"}, {"roofline", "best"}}) {
    std::vector<std::string> arguments = words;
    arguments.insert(arguments.end(), {"-m", "120", "-n", "96", "-k", "64"});
    const Ran ran = run_program(arguments);
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_TRUE(contains(ran.out, kernel)) << ran.out;
  }
}

// The kernel, and the entry of it that the problem runs.
TEST_F(Best, IsShownInItsMachineCode) {
  for (const std::string layout : {"NN", "TN"}) {
    for (const std::string type : {"f32", "bf16"}) {
      const lab::Json first = first_candidate("120", type, layout);
      const std::vector<std::string> problem = {
          "-m", "120", "-n", "96", "-k", "64", "--type", type, "--layout", layout, "--no-run"};
      for (const std::vector<std::string>& call :
           {std::vector<std::string>{"sass", "best"}, {"sass", "--kernel", "best"}}) {
        std::vector<std::string> words = call;
        words.insert(words.end(), problem.begin(), problem.end());
        const lab::Json shown = json_of(words);
        EXPECT_EQ(shown.at("best"), named(first));
        ASSERT_EQ(shown.at("kernels").size(), 1u);
        EXPECT_EQ(shown.at("kernels").at(0).at("kernel"), first.at("entry"));
        const Ran ran = run_program(words);
        EXPECT_TRUE(ran.out.starts_with("best: " + named(first) + ", entry ")) << ran.out;
        EXPECT_TRUE(contains(ran.out, "120 x 96 x 64, " + layout)) << ran.out;
      }
    }
  }
  const Ran other = run_program({"sass", "12", "-m", "120"});
  EXPECT_EQ(other.code, 2);
  EXPECT_TRUE(contains(other.err, "-m is '120', but only 'best' is looked up")) << other.err;
}

TEST_F(Best, MachineCodeOfItIsComparedAndRewritten) {
  const TemporaryFolder folder;
  const std::vector<std::string> problem = {"-m", "120", "-n", "96", "-k", "64"};
  const std::string told = "best: " + first_of_why("120", "f32") + ", entry ";
  for (const std::vector<std::string>& call :
       {std::vector<std::string>{"sass", "--diff", "12", "best"},
        {"sass", "best", "--listing", "-o", folder / "best.sass"},
        {"sass", "--optimise", "best", "-o", folder / "best.cubin"},
        {"sass", "--remap", "best", "-o", folder / "best.cubin"}}) {
    std::vector<std::string> words = call;
    words.insert(words.end(), problem.begin(), problem.end());
    const Ran ran = run_program(words);
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_TRUE(contains(ran.out, told)) << ran.out;
  }
}

// The option of other commands, and kernels of a type.
TEST_F(Best, IsNamedByPlaceOrByOption) {
  const std::vector<std::string> problem = {"-m", "120", "-n", "96", "-k", "64", "--type", "f64"};
  const std::string best = first_of_why("120", "f64");
  for (const std::vector<std::string>& call :
       {std::vector<std::string>{"explain", "--kernel", "best"},
        {"roofline", "--kernel", "best"},
        {"roofline", "best"},
        {"compare", "25", "best", "--no-diff"}}) {
    std::vector<std::string> words = call;
    words.insert(words.end(), problem.begin(), problem.end());
    const Ran ran = run_program(words);
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_TRUE(contains(ran.out, best.substr(0, best.find('/')))) << ran.out;
  }
}

// Each problem has a best of its own.
TEST_F(Best, IsChosenForEachProblem) {
  const lab::Json runs = json_of({"verify", "--kernel", "best", "--device", "virtual", "-m",
                                  "1,120", "-n", "96", "-k", "64"})
                             .at("runs");
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(named(runs.at(0)), first_of_why("1", "f32"));
  EXPECT_EQ(named(runs.at(1)), first_of_why("120", "f32"));
  EXPECT_NE(named(runs.at(0)), named(runs.at(1)));
}

TEST_F(Best, OfACardIsCodeOfThatCard) {
  const Ran ran = run_program(
      {"explain", "best", "-m", "120", "-n", "96", "-k", "64", "--gpu", "2080ti", "--json", "-"});
  if (contains(ran.err, "needs nvcc")) GTEST_SKIP() << "no nvcc";
  ASSERT_EQ(ran.code, 0) << ran.err;
  const lab::Json explained = lab::Json::parse(ran.out).at("explained").at(0);
  EXPECT_TRUE(contains(explained.at("kernel"), "_sm75")) << named(explained);
}

TEST_F(Best, MultiplySaysWhichAndWhy) {
  const std::string data = TESSERA_SOURCE_DIR "/tests/cli/data/";
  const TemporaryFolder folder;
  const std::vector<std::string> multiply = {"multiply", data + "a_f32.npy", data + "b_f32.npy",
                                             "-o",       folder / "d.npy",   "--device",
                                             "virtual"};
  for (const bool is_named : {false, true}) {
    std::vector<std::string> words = multiply;
    if (is_named) words.insert(words.end(), {"--kernel", "best"});
    const Ran ran = run_program(words);
    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_TRUE(contains(ran.out, " (fastest of ")) << ran.out;
    EXPECT_TRUE(contains(ran.out, " by model: ") && contains(ran.out, ", next ")) << ran.out;
    EXPECT_TRUE(contains(ran.out, "_f32/")) << ran.out;
  }
  std::vector<std::string> words = multiply;
  words.insert(words.end(), {"--kernel", "12"});
  const Ran ran = run_program(words);
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(contains(ran.out, "12_warp_tile/128x128x8 (named; ")) << ran.out;
}

TEST_F(Best, AMessageNamesTheArgumentThatTheCommandHas) {
  const std::pair<std::vector<std::string>, const char*> calls[] = {
      {{"explain", "foo"}, "KERNEL is 'foo'"},
      {{"compare", "foo", "02"}, "BEFORE is 'foo'"},
      {{"compare", "02", "foo"}, "AFTER is 'foo'"},
      {{"sass", "foo"}, "KERNEL is 'foo'"},
      {{"roofline", "foo"}, "KERNELS is 'foo'"},
      {{"verify", "--kernel", "foo"}, "--kernel is 'foo'"},
      {{"verify", "best"}, "argument 'best' is not known here; --kernel names a kernel"},
      {{"doctor", "--kernel", "best"},
       "argument '--kernel' is not known here; the command takes no kernel"},
      {{"compare", "--kernel", "best"},
       "argument '--kernel' is not known here; BEFORE and AFTER are given without an option"}};
  for (const auto& [call, words] : calls) {
    const Ran ran = run_program(call);
    EXPECT_EQ(ran.code, 2);
    EXPECT_TRUE(contains(ran.err, std::string(": ") + words)) << ran.err;
  }
}

TEST_F(Best, CommandsWithoutAProblemSaySo) {
  const Ran ran = run_program({"list", "--kernel", "best"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_TRUE(contains(ran.err, "--kernel is 'best', but which one that is depends on the problem"))
      << ran.err;
}

TEST_F(Best, IsNamedAlone) {
  for (const char* list : {"best,01", "01,best", "01,best,02"}) {
    for (const char* command : {"bench", "verify"}) {
      const Ran ran = run_program({command, "--device", "virtual", "--kernel", list, "-m", "64"});
      EXPECT_EQ(ran.code, 2);
      EXPECT_TRUE(contains(
          ran.err, std::string("--kernel is '") + list + "', but 'best' cannot be in a list"))
          << ran.err;
    }
  }
}

}  // namespace
}  // namespace tessera::cli
