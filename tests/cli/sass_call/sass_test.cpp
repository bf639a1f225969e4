// sass as a person calls it: catalog kernels and files, reports, listings, pages, and what is
// refused.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "lab/record/record.h"
#include "tests/support/beside.h"
#include "tests/support/program.h"

namespace tessera::cli {
namespace {

class Sass : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(beside_test("tessera"))) GTEST_SKIP() << "no program here";
  }
};

TEST_F(Sass, ExplainsRung11) {
  const Ran ran = run_program({"sass", "11"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  for (const char* part : {"rung_11_double_buffer__128x128x8", "512 FFMA", "32 LDS.128",
                           "Occupancy: 2 blocks", "Shared loads: ", "maxas", "Verdict: "}) {
    EXPECT_TRUE(contains(ran.out, part)) << part;
  }
}

// One loop, four architectures: where an FFMA holds its pipe for two cycles, ports are no obstacle.
TEST_F(Sass, JudgesTheCodeOfTheCardThatIsNamed) {
  const Ran turing = run_program({"sass", "12", "--gpu", "2080ti", "--no-run"});
  if (contains(turing.err, "needs nvcc")) GTEST_SKIP() << "no nvcc";
  EXPECT_EQ(turing.code, 0) << turing.err;
  EXPECT_TRUE(contains(turing.out, "(sm_75,")) << turing.out;
  EXPECT_TRUE(contains(turing.out, "holds\nits pipe for 2 cycles")) << turing.out;
  EXPECT_TRUE(contains(turing.out, "Verdict: the FFMA pipe can be full")) << turing.out;
  EXPECT_TRUE(contains(run_program({"sass", "12", "--gpu", "v100", "--no-run"}).out, "(sm_75,"));
  const std::vector<std::pair<const char*, const char*>> cards = {{"a100", "(sm_80,"},
                                                                  {"rtx3090", "(sm_86,"}};
  for (const auto& [card, sm] : cards) {
    const Ran ran = run_program({"sass", "12", "--gpu", card, "--no-run"});
    EXPECT_TRUE(contains(ran.out, sm)) << ran.out;
    EXPECT_EQ(contains(ran.out, "can be full"), std::string(card) == "a100") << ran.out;
  }
  const Ran none = run_program({"sass", "15", "--gpu", "a100"});
  EXPECT_EQ(none.code, 2);
  EXPECT_TRUE(contains(none.err, "15_producer_warp: its code runs on SM 9.0 alone")) << none.err;
}

TEST_F(Sass, TellsMemoryBoundKernelsToBeLeftAlone) {
  const Ran ran = run_program({"sass", "02", "--no-run"});
  EXPECT_TRUE(contains(ran.out, "do not touch the SASS")) << ran.out;
  EXPECT_FALSE(contains(ran.out, "Shared loads"));
}

TEST_F(Sass, WritesJson) {
  const lab::Json json = json_of({"sass", "11", "--listing", "--no-run"});
  EXPECT_EQ(json.at("schema"), "tessera.sass/1");
  const lab::Json& kernel = json.at("kernels").at(0);
  EXPECT_EQ(kernel.at("sm"), 90);
  EXPECT_GT(kernel.at("instructions").size(), 1000u);
  EXPECT_EQ(kernel.at("unknown_opcodes").size(), 0u);
}

TEST_F(Sass, EntriesAreChosenByAPartOfTheirName) {
  const lab::Json json = json_of({"sass", "11", "--kernel", "ak_bk", "--no-run"});
  ASSERT_EQ(json.at("kernels").size(), 1u);
  EXPECT_TRUE(contains(json.at("kernels").at(0).at("kernel"), "ak_bk"));
  const Ran ran = run_program({"sass", "11", "--kernel", "nothing"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_TRUE(contains(ran.err, "--kernel is 'nothing', but the kernels are rung_11")) << ran.err;
}

TEST_F(Sass, AnEmptyLineIsBetweenReports) {
  const Ran ran = run_program({"sass", "11", "--kernel", "_bk", "--no-run"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(ran.out.starts_with("rung_11")) << ran.out;
  EXPECT_TRUE(contains(ran.out, "\n\nrung_11")) << ran.out;
}

TEST_F(Sass, ReadsFilesAndRefusesDamagedOnes) {
  const std::string cubin = beside_test("images/02_coalesced__32x32.sm_90a.cubin");
  if (!std::filesystem::exists(cubin)) GTEST_SKIP() << "the build's images did not travel along";
  const lab::Json json = json_of({"sass", cubin, "--kernel", "32x32"});
  EXPECT_EQ(json.at("kernels").at(0).at("kernel"), "rung_02_coalesced__32x32");

  const TemporaryFolder folder;
  const std::string text = file_text(cubin);
  write_text(folder / "cut.cubin", text.substr(0, text.size() / 2));
  write_text(folder / "other", std::string(5000, 'x'));
  write_text(folder / "none", "");
  for (const char* name : {"cut.cubin", "other", "none"}) {
    const Ran ran = run_program({"sass", folder / name});
    EXPECT_EQ(ran.code, 2) << name;
    EXPECT_TRUE(contains(ran.err, name)) << ran.err;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  }
  EXPECT_EQ(run_program({"sass", cubin, "--sm", "75"}).code, 2) << "no code for it";
  EXPECT_EQ(run_program({"sass", folder / "missing.cubin"}).code, 2);
}

TEST_F(Sass, LaysTwoKernelsSideBySide) {
  const Ran ran = run_program({"sass", "--diff", "10", "11"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(contains(ran.out, "static shared bytes")) << ran.out;
  EXPECT_TRUE(contains(ran.out, "+8192")) << ran.out;
  EXPECT_EQ(run_program({"sass", "--diff", "10", "all"}).code, 2);
  EXPECT_EQ(run_program({"sass"}).code, 2);
}

TEST_F(Sass, OptimisesACubinInPlace) {
  const std::string cubin = beside_test("images/09_tile_8x8__128x128x8.sm_90a.cubin");
  if (!std::filesystem::exists(cubin)) GTEST_SKIP() << "the build's images did not travel along";
  const TemporaryFolder folder;
  const std::string out = folder / "out.cubin";
  const Ran ran = run_program(
      {"sass", "--optimise", cubin, "-o", out, "--kernel", "rung_09_tile_8x8__128x128x8_am_bn"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(contains(ran.out, "bitwise equal")) << ran.out;
  EXPECT_EQ(file_text(out).size(), file_text(cubin).size());
  const Ran diff = run_program({"sass", "--diff", cubin, out, "--kernel", "am_bn"});
  EXPECT_EQ(diff.code, 0) << diff.err;
  EXPECT_TRUE(contains(diff.out, " instructions differ")) << diff.out;
  EXPECT_TRUE(contains(diff.out, "bubbles (model)")) << diff.out;

  EXPECT_EQ(run_program({"sass", "--optimise", cubin}).code, 2) << "no -o";
  write_text(folder / "none", "no cubin");
  EXPECT_NE(run_program({"sass", "--optimise", folder / "none", "-o", folder / "x"}).code, 0);
  EXPECT_FALSE(std::filesystem::exists(folder / "x"));
}

TEST_F(Sass, WritesAPage) {
  const TemporaryFolder folder;
  const Ran ran = run_program({"sass", "06", "--no-run", "--html", folder / "page.html"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  const std::string page = file_text(folder / "page.html");
  EXPECT_TRUE(contains(page, "<!doctype html>"));
  EXPECT_TRUE(contains(page, "The loop that multiplies"));
  EXPECT_EQ(run_program({"sass", "06", "--html", folder / "no/page.html"}).code, 2);
}

// Neighbours of the FP32 pipe of which the second follows after one cycle.
int pairs_too_close(const std::string& listing) {
  std::istringstream lines(listing);
  int pairs = 0;
  bool is_close = false;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string address, stall;
    words >> address >> stall;
    const bool is_of_pipe = contains(line, " FFMA ") || contains(line, " FMUL ") ||
                            contains(line, " FADD ") || contains(line, " IMAD");
    pairs += is_close && is_of_pipe;
    is_close = is_of_pipe && stall == "1";
  }
  return pairs;
}

// Where an FFMA holds its pipe for two cycles, three registers of one bank are what an order can
// avoid.
TEST_F(Sass, ReordersTheCodeOfOlderCards) {
  const TemporaryFolder folder;
  for (const char* card : {"2080ti", "a100"}) {
    const Ran ran = run_program({"sass", "--optimise", "11", "--gpu", card, "--kernel", "am_bn",
                                 "-o", folder / "new.cubin", "--json", folder / "new.json"});
    if (contains(ran.err, "needs nvcc")) GTEST_SKIP() << "no nvcc";
    ASSERT_EQ(ran.code, 0) << ran.err;
    const lab::Json kernel = lab::Json::parse(file_text(folder / "new.json")).at("kernels").at(0);
    EXPECT_GT(kernel.at("moved").get<int>(), 0) << card;
    const lab::Json loop = kernel.at("loops").at(0);
    EXPECT_LT(loop.at("crowded_ffmas").get<double>(),
              loop.at("crowded_ffmas_before").get<double>() / 2)
        << card;
    const Ran listed =
        run_program({"sass", folder / "new.cubin", "--kernel", "am_bn", "--listing"});
    EXPECT_TRUE(contains(listed.out, " FFMA ")) << listed.err;
    EXPECT_EQ(pairs_too_close(listed.out), 0) << card;
  }
}

TEST_F(Sass, ShowsPtxBesideMachineCode) {
  const Ran ran = run_program({"sass", "05", "--ptx"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(contains(ran.out, "sm_90: the loop that multiplies, PTX and machine code"))
      << ran.out;
  EXPECT_TRUE(contains(ran.out, "fma.rn.f32")) << ran.out;
  const TemporaryFolder folder;
  ASSERT_EQ(run_program({"sass", "--optimise", "08", "-o", folder / "a.cubin"}).code, 0);
  const Ran file = run_program({"sass", folder / "a.cubin", "--ptx"});
  EXPECT_EQ(file.code, 2);
  EXPECT_TRUE(contains(file.err, "--ptx shows the main loop of a kernel of the catalog"))
      << file.err;
}

TEST_F(Sass, ShowsPublishedMaps) {
  const Ran ran = run_program({"sass", "--published"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  for (const char* part :
       {"volta-remapped:", "maxas:", "Its order of FFMAs", "hides 16 of the 16"}) {
    EXPECT_TRUE(contains(ran.out, part)) << part;
  }
}

// The list and the report count the same thing: FFMAs of a loop that is going round.
TEST_F(Sass, ClashesAreThoseOfTheReport) {
  for (const char* kernel : {"09", "11", "12", "14"}) {
    const Ran ran = run_program({"sass", kernel, "--clashes", "--no-run"});
    ASSERT_EQ(ran.code, 0) << ran.err;
    const std::size_t end = ran.out.find(" FFMAs clash by the rule crowded2, ");
    ASSERT_NE(end, ran.out.npos) << ran.out;
    const std::string head = ran.out.substr(ran.out.find(": ") + 2);
    const int clashes = std::stoi(head);
    const int hidden = std::stoi(ran.out.substr(ran.out.find("crowded2, ") + 10));
    for (const lab::Json& loop :
         json_of({"sass", kernel, "--no-run"}).at("kernels")[0].at("loops")) {
      if (!loop.at("is_main")) continue;
      EXPECT_EQ(clashes - hidden, loop.at("ports").at("crowded_ffmas").get<int>()) << kernel;
    }
  }
}

TEST_F(Sass, ListsClashesByTheRuleOfTheCard) {
  const Ran ran = run_program({"sass", "12", "--clashes", "--no-run"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  for (const char* part : {"FFMAs clash by the rule crowded2", "in bank 0", "in bank 1"}) {
    EXPECT_NE(ran.out.find(part), std::string::npos) << part;
  }
}

}  // namespace
}  // namespace tessera::cli
