// Rung 16 is the machine code of rung 15, patched by the build: what commands say of it.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/support/beside.h"
#include "tests/support/program.h"

namespace tessera::cli {
namespace {

class Patched : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(beside_test("tessera"))) GTEST_SKIP() << "no program here";
  }
};

TEST_F(Patched, ListNamesBothCubins) {
  const Ran ran = run_program({"list", "--kernel", "15,16"});
  EXPECT_TRUE(contains(ran.out, "patched cubin sm_90a, cubin sm_90a, ptx sm_90a")) << ran.out;
  const Ran plain = run_program({"list", "--kernel", "15"});
  EXPECT_FALSE(contains(plain.out, "patched")) << plain.out;
}

// The virtual GPU has nothing of its own to run.
TEST_F(Patched, OnTheVirtualGpuTheProofSpeaks) {
  const std::vector<std::string> size = {"-m", "64", "-n", "64", "-k", "16", "--device", "virtual"};
  std::vector<std::string> words = {"bench", "--kernel", "15,16", "--json", "-"};
  words.insert(words.end(), size.begin(), size.end());
  const auto runs = nlohmann::json::parse(run_program(words).out).at("runs");
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].at("verified"), "full");
  EXPECT_FALSE(runs[0].at("counts").is_null());
  EXPECT_EQ(runs[1].at("verified"), "as 15 (PTX); cubin proved equal");
  EXPECT_TRUE(runs[1].at("counts").is_null());

  words = {"verify", "--kernel", "16"};
  words.insert(words.end(), size.begin(), size.end());
  const Ran verified = run_program(words);
  EXPECT_EQ(verified.code, 0);
  EXPECT_TRUE(contains(verified.out, "16_scheduled_sass: as 15 (PTX); cubin proved equal."));
  words = {"ladder", "--kernel", "15,16"};
  words.insert(words.end(), size.begin(), size.end());
  EXPECT_TRUE(contains(run_program(words).out, "as 15 (PTX) ")) << run_program(words).out;
}

// explain counts PTX: for rung 16 it says whose, and shows that rung's lines.
TEST_F(Patched, ExplainSaysWhosePtxItCounts) {
  const auto lines_of = [](const char* kernel) {
    const Ran ran = run_program({"explain", kernel, "--json", "-"});
    return nlohmann::json::parse(ran.out).at("explained").at(0);
  };
  const auto own = lines_of("15"), patched = lines_of("16");
  EXPECT_TRUE(own.at("counted_as").is_null());
  EXPECT_EQ(patched.at("counted_as"), "15_producer_warp");
  EXPECT_EQ(patched.at("resources"), own.at("resources"));
  EXPECT_EQ(patched.at("lines"), own.at("lines"));
  const Ran text = run_program({"explain", "16"});
  for (const char* part : {"No counts of its own", "PTX of 15_producer_warp", "explain 15",
                           "'tessera sass 16'", "src/ladder/15_producer_warp/kernel.cu"}) {
    EXPECT_TRUE(contains(text.out, part)) << part << " in\n" << text.out;
  }
}

TEST_F(Patched, SassReadsThePatchedCode) {
  const Ran report = run_program({"sass", "16", "--no-run"});
  EXPECT_EQ(report.code, 0) << report.err;
  EXPECT_TRUE(contains(report.out, "Patched: from 15_producer_warp")) << report.out;
  const Ran diff = run_program({"sass", "--diff", "15", "16", "--kernel", "am_bn_tma"});
  EXPECT_EQ(diff.code, 0) << diff.err;
  EXPECT_TRUE(contains(diff.out, "16_scheduled_sass: rung_15")) << diff.out;
  EXPECT_TRUE(contains(diff.out, "crowded FFMAs (model)")) << diff.out;
  EXPECT_TRUE(contains(diff.out, " instructions differ, 0 of them in their opcode")) << diff.out;
}

}  // namespace
}  // namespace tessera::cli
