// docs/sass-by-hand.md as a person follows it: rung 12 as text, three edits, and back.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "catalog/catalog.h"
#include "lab/record/record.h"
#include "tests/support/beside.h"
#include "tests/support/program.h"

namespace tessera::cli {
namespace {

namespace fs = std::filesystem;

std::string text_of_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class ByHand : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(beside_test("tessera"))) GTEST_SKIP() << "no program here";
    folder_ = fs::temp_directory_path() / ("tessera_by_hand_" + std::to_string(getpid()));
    fs::create_directory(folder_);
    const Ran ran = run_program({"sass", "12", "--listing", "-o", path("12.sass"), "--kernel",
                                 "rung_12_warp_tile__128x128x8_am_bk"});
    ASSERT_EQ(ran.code, 0) << ran.err;
    text_ = text_of_file(path("12.sass"));
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const char* name) const { return (folder_ / name).string(); }
  Ran assemble() const {
    lab::write_file(path("12.sass"), text_);
    return run_program({"sass", "--assemble", path("12.sass"), "-o", path("12.cubin")});
  }
  // Changes a part of the first line that has all of `parts`.
  void edit(const std::vector<std::string>& parts, const std::string& from, const std::string& to) {
    for (std::size_t at = 0; at < text_.size(); at = text_.find('\n', at) + 1) {
      const std::string line = text_.substr(at, text_.find('\n', at) - at);
      bool has_all = true;
      for (const std::string& part : parts) has_all = has_all && line.find(part) != line.npos;
      if (!has_all) continue;
      ASSERT_NE(line.find(from), line.npos) << line;
      text_.replace(at + line.find(from), from.size(), to);
      return;
    }
    FAIL() << "no such line: " << parts.front();
  }

  fs::path folder_;
  std::string text_;
};

TEST_F(ByHand, OutAndBackIsTheBuildsOwnCubin) {
  const Ran ran = assemble();
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.out.find("hazards: none"), ran.out.npos) << ran.out;
  const Kernel& rung = *choose_kernels("12").front().kernel;
  const auto cubin = image_of(rung, rung.rows.front().entry).cubin;
  const std::string_view bytes(reinterpret_cast<const char*>(cubin.data()), cubin.size());
  EXPECT_EQ(text_of_file(path("12.cubin")), bytes);
}

TEST_F(ByHand, ALowerStallIsAHazard) {
  edit({"  5 Y w- r- ", " MOV R"}, "  5 Y", "  1 Y");
  const Ran ran = assemble();
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(ran.out.find("1 cycles after MOV"), ran.out.npos) << ran.out;
  EXPECT_TRUE(fs::exists(path("12.cubin"))) << "written all the same";
}

TEST_F(ByHand, AReuseFlagFewerIsNoHazardAndAnUntrueOneIs) {
  const std::string original = text_;
  edit({"FFMA R", ".reuse"}, ".reuse", "");
  EXPECT_EQ(assemble().code, 0);
  text_ = original;
  edit({" Y w- r- ", "MOV R10, R74"}, "MOV R10, R74", "MOV R10, R74.reuse");
  const Ran ran = assemble();
  EXPECT_EQ(ran.code, 2) << "an instruction that yields has no flags";
  EXPECT_NE(ran.err.find("line "), ran.err.npos) << ran.err;
}

TEST_F(ByHand, ARegisterBeyondTheKernelsIsRefused) {
  edit({"FFMA R"}, "FFMA R", "FFMA R254, R");
  const Ran ran = assemble();
  EXPECT_EQ(ran.code, 2);
  EXPECT_NE(ran.err.find("line "), ran.err.npos) << ran.err;
}

TEST_F(ByHand, MistakesHaveALineAndAColumn) {
  edit({"FFMA R"}, "FFMA R", "FFMA.SOON R");
  const Ran ran = assemble();
  EXPECT_EQ(ran.code, 2);
  EXPECT_NE(ran.err.find("12.sass', line "), ran.err.npos) << ran.err;
  EXPECT_NE(ran.err.find("no form of this instruction"), ran.err.npos) << ran.err;
}

}  // namespace
}  // namespace tessera::cli
