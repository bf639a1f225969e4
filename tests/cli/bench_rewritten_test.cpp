// bench --rewritten as a person calls it: one kernel's code as compiled, and what was made of it.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/support/beside.h"
#include "tests/support/program.h"

namespace tessera::cli {
namespace {

using Words = std::vector<std::string>;

TEST(BenchRewritten, TellsOfEachCodeBesideTheOneAsCompiled) {
  if (!std::filesystem::exists(beside_test("tessera"))) GTEST_SKIP() << "no program here";
  if (!std::filesystem::exists(fake_driver())) GTEST_SKIP() << "no stand-in driver";
  const Ran ran =
      run_program({"bench", "--device", "cuda", "--no-verify", "--rounds", "1", "--mode", "burst",
                   "--kernel", "08", "-m", "128", "--rewritten", "remapped,both", "--json", "-"},
                  {"LD_LIBRARY_PATH=" + std::filesystem::path(fake_driver()).parent_path().string(),
                   "FAKE_CUDA_ACCEPT=1", "FAKE_CUDA_MEMORY=1000000000"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const lab::Json runs = lab::Json::parse(ran.out).at("runs");
  ASSERT_EQ(runs.size(), 3u);
  const Words builds = {"as compiled", "remapped", "both"};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    EXPECT_EQ(runs[i].at("build"), builds[i]);
    EXPECT_EQ(runs[i].at("image_is_patched"), i > 0);
    EXPECT_TRUE(contains(runs[i].at("command"), "--rewritten remapped,both"));
  }
  const lab::Json& made = runs[0].at("rewritten");
  ASSERT_EQ(made.size(), 2u);
  for (std::size_t i = 0; i < made.size(); ++i) {
    EXPECT_EQ(made[i].at("rewriting"), builds[i + 1]);
    EXPECT_NE(made[i].at("image_hash"), runs[0].at("image_hash"));
    EXPECT_FALSE(made[i].at("speedup").is_null());
    EXPECT_LT(made[i].at("main_loop").at("cycles"), made[i].at("main_loop").at("cycles_before"));
  }
}

TEST(BenchRewritten, RefusesOtherWordsAndAnotherBuild) {
  if (!std::filesystem::exists(beside_test("tessera"))) GTEST_SKIP() << "no program here";
  const Ran ran = run_program({"bench", "--kernel", "08", "--rewritten", "remapped,faster"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_TRUE(contains(ran.err, "--rewritten is 'remapped,faster'")) << ran.err;
  EXPECT_EQ(run_program({"bench", "--kernel", "08", "--rewritten", "all", "--chain", "2"}).code, 2);
}

}  // namespace
}  // namespace tessera::cli
