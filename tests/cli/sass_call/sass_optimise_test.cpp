// sass --optimise as a person calls it: the file it writes, what it prints, what it refuses.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "catalog/catalog.h"
#include "lab/record/record.h"
#include "tests/support/beside.h"
#include "tests/support/program.h"

namespace tessera::cli {
namespace {

namespace fs = std::filesystem;

class Optimise : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(beside_test("tessera"))) GTEST_SKIP() << "no program here";
    folder_ = fs::temp_directory_path() / ("tessera_optimise_" + std::to_string(getpid()));
    fs::create_directory(folder_);
    for (const Kernel& kernel : all_kernels()) {
      if (kernel.name != "09_tile_8x8") continue;
      const auto cubin = image_of(kernel, kernel.rows.front().entry).cubin;
      lab::write_file(in(), {reinterpret_cast<const char*>(cubin.data()), cubin.size()});
    }
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string in() const { return (folder_ / "in.cubin").string(); }
  std::string out() const { return (folder_ / "out.cubin").string(); }

  fs::path folder_;
};

constexpr const char* kEntry = "rung_09_tile_8x8__128x128x8_am_bn";

TEST_F(Optimise, WritesACubinAndItsProof) {
  const Ran ran = run_program({"sass", "--optimise", in(), "-o", out(), "--kernel", kEntry});
  EXPECT_EQ(ran.code, 0) << ran.err;
  for (const char* part : {kEntry, "bitwise equal", "hazards: none", "bubbles"}) {
    EXPECT_NE(ran.out.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(fs::file_size(in()), fs::file_size(out()));
}

TEST_F(Optimise, WritesJson) {
  const Ran ran =
      run_program({"sass", "--optimise", in(), "-o", out(), "--kernel", kEntry, "--json", "-"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  const lab::Json json = lab::Json::parse(ran.out);
  const lab::Json& kernel = json.at("kernels").at(0);
  EXPECT_GT(kernel.at("moved"), 0);
  const lab::Json& loop = kernel.at("loops").at(0);
  EXPECT_LT(loop.at("bubbles"), loop.at("bubbles_before"));
}

TEST_F(Optimise, TakesAPartOfTheName) {
  const Ran ran = run_program({"sass", "--optimise", in(), "-o", out(), "--kernel", "8_am_bn"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.out.find(kEntry), std::string::npos) << ran.out;
  EXPECT_EQ(ran.out.find("8_ak_bk"), std::string::npos) << ran.out;
}

// By the rules of the card, in code compiled for it. On code of ptxas' own no hazard is found.
TEST_F(Optimise, TakesTheCodeOfACard) {
  struct Case {
    const char *kernel, *gpu, *sm, *entry;
  };
  for (const auto& [kernel, gpu, sm, entry] :
       {Case{"09", "2080ti", "sm_75", "128x128x8_am_bn"}, Case{"11", "2080ti", "sm_75", "am_bn"},
        Case{"09", "a100", "sm_80", "128x128x8_am_bn"},
        Case{"simt_f32_sm75/64x64", "a100", "sm_80", "ak_bn"},
        Case{"09", "rtx3090", "sm_86", "128x128x8_am_bn"},
        Case{"09", "rtx4090", "sm_89", "128x128x8_am_bn"}}) {
    const Ran ran =
        run_program({"sass", "--optimise", kernel, "--gpu", gpu, "-o", out(), "--kernel", entry});
    if (ran.err.find("needs nvcc") != std::string::npos) GTEST_SKIP() << "no nvcc";
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_NE(ran.out.find(std::string("for ") + sm), std::string::npos) << ran.out;
    EXPECT_NE(ran.out.find("proved, not run"), std::string::npos) << ran.out;
    EXPECT_EQ(ran.out.find("left alone"), std::string::npos) << ran.out;
  }
}

TEST_F(Optimise, RefusesAndWritesNothing) {
  EXPECT_NE(run_program({"sass", "--optimise", in()}).code, 0);
  EXPECT_NE(run_program({"sass", "--optimise", in() + ".none", "-o", out()}).code, 0);
  const Ran ran = run_program({"sass", "--optimise", in(), "-o", out(), "--kernel", "nobody"});
  EXPECT_NE(ran.code, 0);
  EXPECT_NE(ran.err.find("no kernel nobody"), std::string::npos) << ran.err;
  EXPECT_FALSE(fs::exists(out()));
}

}  // namespace
}  // namespace tessera::cli
