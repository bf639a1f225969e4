// sass --remap as a person calls it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "lab/record/record.h"
#include "tests/support/beside.h"
#include "tests/support/program.h"

namespace tessera::cli {
namespace {

namespace fs = std::filesystem;

TEST(SassRemap, WritesACubinAndSaysWhatItChanged) {
  if (!fs::exists(beside_test("tessera"))) GTEST_SKIP() << "no program here";
  const fs::path out =
      fs::temp_directory_path() / ("tessera_remap_" + std::to_string(getpid()) + ".cubin");
  const std::vector<std::string> call = {
      "sass", "--remap", "08", "-o", out.string(), "--kernel", "rung_08_tile_4x4__64x64x16_am_bk"};
  Ran ran = run_program(call);
  EXPECT_EQ(ran.code, 0) << ran.err;
  for (const char* part :
       {"live ranges have another register", "bitwise equal", "0 instructions"}) {
    EXPECT_NE(ran.out.find(part), ran.out.npos) << part << "\n" << ran.out;
  }
  EXPECT_TRUE(fs::exists(out));
  std::vector<std::string> both = call;
  both.insert(both.end(), {"--reorder", "--json", "-"});
  ran = run_program(both);
  EXPECT_EQ(ran.code, 0) << ran.err;
  const lab::Json kernel = lab::Json::parse(ran.out).at("kernels").at(0);
  EXPECT_GT(kernel.at("renamed"), 0);
  EXPECT_GT(kernel.at("moved"), 0);
  const lab::Json& loop = kernel.at("loops").at(0);
  EXPECT_LT(loop.at("cycles"), loop.at("cycles_before"));
  fs::remove(out);
  EXPECT_EQ(run_program({"sass", "--remap", "08"}).code, 2) << "no -o";
}

}  // namespace
}  // namespace tessera::cli
