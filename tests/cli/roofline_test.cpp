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

TEST_F(Roofline, DrawsAndWritesJson) {
  const Ran drawn = run_program({"roofline", "02", "-m", "64", "--svg", "-"});
  EXPECT_EQ(drawn.code, 0) << drawn.err;
  EXPECT_TRUE(drawn.out.starts_with("<svg")) << drawn.out.substr(0, 100);
  EXPECT_FALSE(contains(drawn.out, "Roofline of NVIDIA H200, 64 x 64 x 64\n\n"));
  const lab::Json object = json_of({"roofline", "02", "-m", "64"});
  EXPECT_EQ(object.at("points").size(), 1u);
}

TEST_F(Roofline, MeasuredTimesStandBesideThePredictedOnes) {
  const lab::Json object =
      json_of({"roofline", "02", "-m", "1024", "--measured", kResults + "h200_ladder_4096.json"});
  EXPECT_NEAR(object.at("points").at(0).at("measured_ms").get<double>(), 0.402, 0.001);
}

TEST_F(Roofline, FilesThatDoNotFitAreRefused) {
  TemporaryFolder folder;
  write_text(folder / "keys.json",
             R"({"schema": "tessera.results/1", "runs": [{"kernel": "02", "tflops": 1.0}]})");
  write_text(folder / "text.json", "no JSON");
  for (const std::string& path : {folder / "keys.json", folder / "text.json",
                                  folder / "nothing.json", kResults + "ladder_cubin.json"}) {
    const Ran ran = run_program({"roofline", "02", "-m", "64", "--measured", path});
    EXPECT_EQ(ran.code, 2) << path;
    EXPECT_TRUE(contains(ran.err, "--measured is '" + path + "', but must be a file that bench "))
        << ran.err;
  }
  const Ran other = run_program({"roofline", "02", "-m", "64", "--gpu", "a100", "--measured",
                                 kResults + "h200_ladder_4096.json"});
  EXPECT_EQ(other.code, 2);
  EXPECT_TRUE(contains(other.err, "measured on 'NVIDIA H200'")) << other.err;
}

}  // namespace
}  // namespace tessera::cli
