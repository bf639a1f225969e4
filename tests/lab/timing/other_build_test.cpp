// Another build's images under this build's kernels, those from before a name was changed too.
#include "lab/timing/other_build.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace tessera::lab {
namespace {

class OtherBuildTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/tessera_images_XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ + "/" + name) << text;
  }
  // What an image needs to be found: a cubin, and PTX with these entries.
  void write_image(const std::string& name, const std::vector<std::string>& entries) {
    write(name + ".sm_90a.cubin", "cubin of " + name);
    std::string ptx;
    for (const std::string& entry : entries) ptx += ".visible .entry " + entry + "(\n)\n";
    write(name + ".ptx", ptx);
  }
  std::string folder_;
};

TEST_F(OtherBuildTest, NamesFromBeforeAreTranslated) {
  const KernelChoice choice = choose_kernels("06/2x2").front();
  ASSERT_EQ(choice.kernel->name, "06_four_outputs");
  std::vector<std::string> old_entries;
  for (const KernelRow& row : choice.kernel->rows) {
    std::string entry = row.entry;
    entry.replace(entry.find("four_outputs"), 12, "strip_of_4");
    old_entries.push_back(entry);
  }
  write_image("06_strip_of_4", old_entries);
  OtherBuild other(folder_, "--against");
  const KernelChoice theirs = other.with_its_code(choice);
  EXPECT_EQ(theirs.variant, "2x2");
  EXPECT_EQ(theirs.kernel->name, choice.kernel->name);
  for (std::size_t i = 0; i < old_entries.size(); ++i) {
    EXPECT_EQ(theirs.kernel->rows[i].entry, old_entries[i]);
  }
  EXPECT_EQ(theirs.kernel->own_image->cubin.size(), std::string("cubin of 06_strip_of_4").size());
  EXPECT_EQ(other.with_its_code(choice).kernel, theirs.kernel);  // made once
}

TEST_F(OtherBuildTest, WhatIsMissingIsNamed) {
  EXPECT_THROW(OtherBuild(folder_, "--against"), StatusError);
  write_image("02_coalesced", {"rung_02_coalesced__other"});
  OtherBuild other(folder_, "--against");
  for (const auto& [kernel, words] :
       {std::pair{"02", "entry rung_02_coalesced"}, {"03", "no image of 03_shared_tile"}}) {
    try {
      other.with_its_code(choose_kernels(kernel).front());
      FAIL() << kernel;
    } catch (const StatusError& error) {
      EXPECT_EQ(error.status().code, StatusCode::kUnsupported);
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace tessera::lab
