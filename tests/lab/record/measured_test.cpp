// Which runs of a results file are figures of ours.
#include "lab/record/measured.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace tessera::lab {
namespace {

Record timed(double tflops) {
  Record r;
  r.kernel = "simt_f32";
  r.config = "256x128";
  r.problem = with_default_ld({64, 64, 64});
  r.device = "NVIDIA H200";
  r.mode = Mode::kBurst;
  r.time_ms = Summary{1, 1, 1, 1};
  r.tflops = tflops;
  return r;
}

TEST(Measured, CompanionsAndOtherBuildsAreNoFiguresOfOurs) {
  Record limited = timed(2), other = timed(3);
  limited.workspace_limit = 64 << 20;
  other.other_build = true;
  Json file = to_json(Environment{}, {timed(1), limited, other, timed(4)});
  for (const char* field : {"build", "workspace_limit"})
    file["runs"][3].erase(field);  // an old one
  char path[] = "/tmp/tessera_measured_XXXXXX";
  ASSERT_NE(mkstemp(path), -1);
  std::ofstream(path) << file.dump();
  const std::vector<Measured> rows = measured_in(path, "--measured");
  std::filesystem::remove(path);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].tflops, 1);
  EXPECT_EQ(rows[1].tflops, 4);
}

}  // namespace
}  // namespace tessera::lab
