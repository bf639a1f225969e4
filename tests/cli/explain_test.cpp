// explain and compare as a person calls them: what they say of rungs whose limits are known.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "lab/record/record.h"
#include "tests/support/beside.h"
#include "tests/support/program.h"

namespace tessera::cli {
namespace {

class Explain : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(beside_test("tessera"))) GTEST_SKIP() << "no program here";
  }
};
using Compare = Explain;

// The one explanation of a call.
lab::Json explained(const std::vector<std::string>& call) {
  const lab::Json object = json_of(call);
  EXPECT_EQ(object.at("schema"), "tessera.explain/1");
  EXPECT_TRUE(object.contains("command"));
  EXPECT_EQ(object.at("explained").size(), 1u);
  return object.at("explained").at(0);
}

// The line of a file that holds `part`, from 1.
int line_with(const std::string& path, const std::string& part) {
  const std::string text = file_text(path);
  const std::size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return static_cast<int>(std::count(text.begin(), text.begin() + at, '\n')) + 1;
}

TEST_F(Explain, Rung03SaysBankConflictsAndTheLine) {
  const std::string file = "src/ladder/03_shared_tile/kernel.cu";
  const int line = line_with(file, "tile_b[col][i]");
  const Ran ran = run_program({"explain", "03"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(contains(ran.out, "\nBank conflicts: the load of tile_b")) << ran.out;
  EXPECT_TRUE(contains(ran.out, file + ":" + std::to_string(line))) << ran.out;
  EXPECT_TRUE(contains(ran.out, "takes 32 wavefronts where 1 would do")) << ran.out;
  EXPECT_TRUE(contains(ran.out, "ladder::as_written(tile_b[col][i])")) << ran.out;
  EXPECT_LE(std::count(ran.out.begin(), ran.out.end(), '\n'), 70);  // two screens
  EXPECT_EQ(ran.err, "");
}

TEST_F(Explain, ThePageShowsWhatThisBuildPrints) {
  EXPECT_EQ(run_program({"explain", "03"}).out, file_text("results/ladder/explain_03.txt"))
      << "run: tessera explain 03 > results/ladder/explain_03.txt && tools/tables/update_tables.py";
}

TEST_F(Explain, Rung05HasNoBankConflicts) {
  const lab::Json five = explained({"explain", "05"});
  EXPECT_NE(five.at("limited_by"), "bank conflicts");
  EXPECT_EQ(five.at("wavefronts").at("conflicts"), 0);
  for (const lab::Json& advice : five.at("advice")) EXPECT_NE(advice.at("rule"), "bank-conflicts");
  // Turning both tiles moves the conflict to the store of the other one.
  const lab::Json both = explained({"explain", "05/both_transposed"});
  EXPECT_GT(both.at("wavefronts").at("conflicts"), 0);
}

TEST_F(Explain, Rung01IsScatteredAndRung02IsNot) {
  EXPECT_EQ(explained({"explain", "01"}).at("limited_by"), "scattered global accesses");
  EXPECT_EQ(explained({"explain", "02"}).at("wavefronts").at("scattered"), 0);
}

// Multiples of the tile: the formula that fits is the count, to the last word.
TEST_F(Explain, FormulasEqualCounts) {
  for (const auto& [kernel, what] : {std::pair{"02", "global reads, naive"},
                                     {"03", "global reads, blocked"},
                                     {"03", "shared reads"},
                                     {"06", "shared reads"},
                                     {"08", "shared writes"},
                                     {"12", "global reads, blocked"},
                                     {"12", "shared reads"},
                                     {"21", "global reads, naive"},
                                     {"23", "shared writes"}}) {
    const lab::Json object = explained({"explain", kernel});
    bool found = false;
    for (const lab::Json& row : object.at("formulas")) {
      if (row.at("what") != what) continue;
      found = true;
      EXPECT_EQ(row.at("expected"), row.at("counted")) << kernel << ", " << what;
    }
    EXPECT_TRUE(found) << kernel << ", " << what;
  }
}

TEST_F(Explain, JsonHoldsWhatTheTextSays) {
  const lab::Json object = explained({"explain", "06", "-m", "64", "-n", "32", "-k", "32"});
  for (const char* field :
       {"kernel", "config", "gpu", "limited_by", "verdict", "tag", "bank_model", "resources",
        "wavefronts", "formulas", "flop_per_byte", "placement", "advice", "lines"}) {
    EXPECT_TRUE(object.contains(field)) << field;
  }
  EXPECT_EQ(object.at("placement").at("registers"), 80);
  EXPECT_FALSE(object.at("lines").empty());
  for (const lab::Json& line : object.at("lines")) {
    EXPECT_TRUE(line.at("file").get<std::string>().starts_with("src/ladder/"));
    EXPECT_GT(line.at("line"), 0);
  }
}

TEST_F(Explain, LargeProblemsAreSampledAndSaySo) {
  const lab::Json object =
      explained({"explain", "08", "-m", "1024", "-n", "1024", "-k", "64", "--sample", "16"});
  EXPECT_EQ(object.at("tag"), "model");
  EXPECT_EQ(object.at("blocks"), 256);
  EXPECT_LT(object.at("blocks_ran"), 64);
  const lab::Json whole =
      explained({"explain", "08", "-m", "1024", "-n", "1024", "-k", "64", "--sample", "0"});
  EXPECT_EQ(whole.at("blocks_ran"), 256);
  const double all = whole.at("wavefronts").at("shared"),
               part = object.at("wavefronts").at("shared");
  EXPECT_NEAR(part / all, 1, 0.01);
}

TEST_F(Explain, BadCallsAreRefusedInOneSentence) {
  for (const auto& [call, part] : {std::pair{std::vector<std::string>{"explain", "99"}, "'99'"},
                                   {{"explain", "03", "--gpu", "h100x"}, "--gpu is 'h100x'"},
                                   {{"explain", "03", "-m", "0", "-n", "8", "-k", "8"}, "-m is 0"},
                                   {{"explain", "03", "-m", "8,16"}, "name 2 problems"},
                                   {{"explain", "03", "--lines", "0"}, "--lines"},
                                   {{"compare", "03", "0*"}, "AFTER is '0*'"},
                                   {{"compare", "nothing", "03"}, "'nothing'"}}) {
    const Ran ran = run_program(call);
    EXPECT_EQ(ran.code, 2) << part;
    EXPECT_TRUE(contains(ran.err, part)) << ran.err;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  }
  EXPECT_EQ(run_program({"explain"}).code, 2);
}

TEST_F(Explain, SeveralKernelsFollowEachOther) {
  const lab::Json object = json_of({"explain", "01,05", "-m", "64"});
  ASSERT_EQ(object.at("explained").size(), 2u);
  EXPECT_EQ(object.at("explained").at(1).at("kernel"), "05_conflict_free");
}

TEST_F(Explain, TheLinesGoToFiles) {
  const TemporaryFolder folder;
  const Ran ran = run_program({"explain", "03", "-m", "64", "--csv", folder / "l.csv", "--md",
                               folder / "l.md", "--gpu", "a100"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(contains(ran.out, "rates of a100"));
  EXPECT_TRUE(contains(file_text(folder / "l.csv"), "src/ladder/03_shared_tile/kernel.cu:"));
  EXPECT_TRUE(contains(file_text(folder / "l.md"), "| kernel | share | place |"));
}

TEST_F(Compare, AStepShowsSourceCountsCodeAndTime) {
  const Ran ran = run_program({"compare", "05", "06"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  for (const char* part :
       {"--- src/ladder/05_conflict_free/kernel.cu", "+++ src/ladder/06_four_outputs/kernel.cu",
        "\n@@ -", "registers per thread", "excess wavefronts", "FMA : shared load",
        "measured, 4096x4096x4096", "results/ladder/h200_ladder_4096.json"}) {
    EXPECT_TRUE(contains(ran.out, part)) << part << "\n" << ran.out;
  }
  EXPECT_FALSE(contains(ran.out, "\x1b["));  // no colours where there is no terminal
  EXPECT_EQ(ran.err, "");
}

// Rung 13 has no static shared memory: its ring is asked for at the launch.
TEST_F(Compare, SharedBytesAreThoseOfTheLaunch) {
  const lab::Json object = json_of({"compare", "12", "13", "-m", "64"});
  int found = 0;
  for (const lab::Json& row : object.at("code")) {
    if (row.at("what") != "shared bytes per block") continue;
    EXPECT_EQ(row.at("12_warp_tile/128x128x8"), "16384");
    EXPECT_EQ(row.at("13_async_copy/256x128x16"), "99328");
    ++found;
  }
  EXPECT_EQ(found, 1);
}

TEST_F(Compare, ListCountsSharedBytesOfTheLaunch) {
  const lab::Json object = json_of({"list", "--kernel", "12,13"});
  const auto bytes = [&](int kernel) {
    return object.at("kernels").at(kernel).at("entries").at(0).at("shared_bytes").get<int>();
  };
  EXPECT_EQ(bytes(0), 16384);
  EXPECT_EQ(bytes(1), 99328);
}

TEST_F(Compare, VariantsOfOneKernelShareTheirSource) {
  const lab::Json object = json_of({"compare", "06", "06/2x2", "-m", "64"});
  EXPECT_TRUE(object.at("source").empty());
  for (const lab::Json& row : object.at("code")) {
    if (row.at("what") != "registers per thread") continue;
    EXPECT_EQ(row.at("06_four_outputs/32x32x32"), "80");
    EXPECT_EQ(row.at("06_four_outputs/2x2"), "56");
  }
}

}  // namespace
}  // namespace tessera::cli
