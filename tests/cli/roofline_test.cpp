// tessera roofline as a person uses it: a table, a drawing, measured times beside predicted ones,
// and files that do not fit refused by name.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/support/beside.h"
#include "tests/support/program.h"

namespace tessera::cli {
namespace {

const std::string kResults = TESSERA_SOURCE_DIR "/results/";

class Roofline : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(beside_test("tessera"))) GTEST_SKIP() << "no program here";
  }
};

TEST_F(Roofline, ShowsKernelsAndLimits) {
  const Ran ran = run_program({"roofline", "02,05", "-m", "256"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  for (const char* part : {"Roofline of NVIDIA H200, 256 x 256 x 256", "GB/s", "TFLOP/s",
                           "02_coalesced", "05_conflict_free", "predicted ms: model ("}) {
    EXPECT_TRUE(contains(ran.out, part)) << part << "\n" << ran.out;
  }
}

// The arithmetic of a text on FLOP per byte: 0.25 FLOP for each byte, 1000 GB/s, 10 TFLOP/s.
TEST_F(Roofline, AnAssumedCardShowsBandwidthTimesIntensity) {
  const std::string card = "name=paper,bandwidth=1000,peak=10";
  const Ran ran = run_program({"roofline", "02", "-m", "256", "--gpu", card});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(contains(ran.out, "Roofline of NVIDIA paper")) << ran.out;
  EXPECT_TRUE(contains(ran.out, "0.25 TFLOP/s, 2.5 %")) << ran.out;
  const lab::Json object = json_of({"roofline", "02", "-m", "256", "--gpu", card});
  EXPECT_NEAR(object.at("points").at(0).at("memory_tflops").get<double>(), 0.25, 1e-3);
  EXPECT_DOUBLE_EQ(object.at("peaks").at(0).at("tflops").get<double>(), 10);
  EXPECT_DOUBLE_EQ(object.at("bandwidths").at(0).at("gb_per_s").get<double>(), 1000);
  const Ran explained =
      run_program({"explain", "02", "-m", "64", "-n", "64", "-k", "32", "--gpu",
                   "name=paper,bandwidth=1000,peak=10,like=a100", "--lines", "1"});
  EXPECT_TRUE(contains(explained.out, "TFLOP/s (2.5 % of 10) as requested")) << explained.out;
  EXPECT_TRUE(contains(explained.out, "code of sm_80")) << explained.out;
}

TEST_F(Roofline, RefusesCardsThatAreNotDescribed) {
  const std::vector<std::pair<std::string, std::string>> cards = {
      {"name=x", "needs both bandwidth= (GB/s) and peak="},
      {"bandwidth=1,peak=0", "peak=0, but a rate must be above 0"},
      {"bandwidth=inf,peak=1", "bandwidth=inf, but a rate must be above 0"},
      {"bandwidth=1,peak=1,sms=4", "'sms=4', but an assumed card is described by"},
      {"bandwidth=1,peak=1,like=h300", "--gpu is 'h300', but must be one of"}};
  for (const auto& [card, message] : cards) {
    const Ran ran = run_program({"roofline", "02", "-m", "64", "--gpu", card});
    EXPECT_EQ(ran.code, 2) << card;
    EXPECT_TRUE(contains(ran.err, message)) << ran.err;
  }
}

TEST_F(Roofline, NamesKernelsThatTheCardCannotRun) {
  const Ran ran = run_program({"roofline", "02,15,24", "-m", "64", "--gpu", "2080ti"});
  if (contains(ran.err, "needs nvcc")) GTEST_SKIP() << "no nvcc";
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(contains(ran.out, "15_producer_warp (its code runs on SM 9.0 alone")) << ran.out;
  EXPECT_TRUE(contains(ran.out, "24_tensor_core_wmma (its code runs on SM 8.0 and later"));
  const Ran no_unit = run_program({"roofline", "02,24", "-m", "64", "--gpu", "rtx3090"});
  EXPECT_TRUE(contains(no_unit.out, "(rtx3090 has no FP64 tensor cores)")) << no_unit.out;
  EXPECT_FALSE(contains(no_unit.out, "inf"));
  const Ran verdict = run_program({"explain", "24", "-m", "64", "--gpu", "rtx3090"});
  EXPECT_TRUE(contains(verdict.out, "No verdict: rtx3090 has no FP64 tensor cores")) << verdict.out;
}

TEST_F(Roofline, DrawsAndWritesJson) {
  const Ran drawn = run_program({"roofline", "02", "-m", "64", "--svg", "-"});
  EXPECT_EQ(drawn.code, 0) << drawn.err;
  EXPECT_TRUE(drawn.out.starts_with("<svg")) << drawn.out.substr(0, 100);
  EXPECT_FALSE(contains(drawn.out, "Roofline of NVIDIA H200, 64 x 64 x 64\n\n"));
  const lab::Json object = json_of({"roofline", "02", "-m", "64"});
  EXPECT_EQ(object.at("points").size(), 1u);
}

TEST_F(Roofline, MeasuredTimesStandBesideThePredictedOnes) {
  const lab::Json object = json_of(
      {"roofline", "02", "-m", "1024", "--measured", kResults + "ladder/h200_ladder_4096.json"});
  EXPECT_NEAR(object.at("points").at(0).at("measured_ms").get<double>(), 0.402, 0.001);
}

TEST_F(Roofline, FilesThatDoNotFitAreRefused) {
  TemporaryFolder folder;
  write_text(folder / "keys.json",
             R"({"schema": "tessera.results/1", "runs": [{"kernel": "02", "tflops": 1.0}]})");
  write_text(folder / "text.json", "no JSON");
  for (const std::string& path : {folder / "keys.json", folder / "text.json",
                                  folder / "nothing.json", kResults + "ladder/ladder_cubin.json"}) {
    const Ran ran = run_program({"roofline", "02", "-m", "64", "--measured", path});
    EXPECT_EQ(ran.code, 2) << path;
    EXPECT_TRUE(contains(ran.err, "--measured is '" + path + "', but must be a file that bench "))
        << ran.err;
  }
  const Ran other = run_program({"roofline", "02", "-m", "64", "--gpu", "a100", "--measured",
                                 kResults + "ladder/h200_ladder_4096.json"});
  EXPECT_EQ(other.code, 2);
  EXPECT_TRUE(contains(other.err, "measured on 'NVIDIA H200'")) << other.err;
}

}  // namespace
}  // namespace tessera::cli
