// Another build's images under this build's kernels, those from before a name was changed too.
#include "lab/bench/other_build.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "catalog/image_pack.h"
#include "catalog/pack.h"

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
  const CodeImage& image = image_of(*theirs.kernel, old_entries.front());
  EXPECT_EQ(image.cubin.size(), std::string("cubin of 06_strip_of_4").size());
  EXPECT_EQ(other.with_its_code(choice).kernel, theirs.kernel);  // made once
}

std::vector<std::string> entries_of(const KernelChoice& choice) {
  std::vector<std::string> entries;
  for (const KernelRow& row : rows_of(*choice.kernel, choice.variant)) entries.push_back(row.entry);
  return entries;
}

// One image a kernel, or one a config: both kinds of build can be timed.
TEST_F(OtherBuildTest, ImagesOfOneConfigComeBeforeThoseOfAKernel) {
  const KernelChoice first = choose_kernels("12").front(),
                     staged = choose_kernels("12/staged").front();
  std::vector<std::string> all = entries_of(first);
  for (const std::string& entry : entries_of(staged)) all.push_back(entry);
  write_image("12_warp_tile", all);
  write_image("12_warp_tile__staged", entries_of(staged));
  OtherBuild other(folder_, "--against");
  const auto name_of = [&](const KernelChoice& choice) {
    const KernelChoice theirs = other.with_its_code(choice);
    return std::string(image_of(*theirs.kernel, entries_of(choice).front()).name);
  };
  EXPECT_EQ(name_of(first), "12_warp_tile of " + folder_);
  EXPECT_EQ(name_of(staged), "12_warp_tile__staged of " + folder_);
}

// What lies beside the other build's binaries, or the folder in which it lies.
TEST_F(OtherBuildTest, APackServesAsWell) {
  const KernelChoice choice = choose_kernels("06/2x2").front();
  std::string entry = entries_of(choice).front(), ptx = ".visible .entry ";
  entry.replace(entry.find("four_outputs"), 12, "strip_of_4");
  ptx += entry + "(\n)\n";
  write("tessera.images", image_file({"abc", "0"}, {{.name = "06_strip_of_4__2x2",
                                                     .portable_arch = "",
                                                     .cubin_archs = {"sm_90a"},
                                                     .text = pack({ptx, ""}),
                                                     .code = pack({"cubin"}),
                                                     .patch = ""}}));
  for (const std::string& path : {folder_, folder_ + "/tessera.images"}) {
    OtherBuild other(path, "--against");
    EXPECT_EQ(other.commit(), "abc");
    const KernelChoice theirs = other.with_its_code(choice);
    EXPECT_EQ(image_of(*theirs.kernel, entry).name, "06_four_outputs__2x2 of " + path);
    EXPECT_EQ(theirs.kernel->rows.front().variant, choice.kernel->rows.front().variant);
    EXPECT_THROW(other.with_its_code(choose_kernels("06").front()), StatusError);
  }
}

// Rung 16 is rung 15's code, patched: in files under that rung's name, in a pack under its own.
TEST_F(OtherBuildTest, APatchedKernelIsFoundWhereItWasMade) {
  const KernelChoice choice = choose_kernels("16").front();
  const std::string name = "15_producer_warp__" + choice.variant;
  write_image(name, entries_of(choice));
  write(name + ".patched.cubin", "patched");
  OtherBuild other(folder_, "--against");
  const KernelChoice theirs = other.with_its_code(choice);
  const CodeImage& image = image_of(*theirs.kernel, entries_of(choice).front());
  EXPECT_EQ(image.name, name + ", patched of " + folder_);
  EXPECT_EQ(image.patched.bytes.size(), 7u);
}

TEST_F(OtherBuildTest, ADamagedPackIsNamedWithItsRule) {
  write("some.images", "tessera images 2\n");
  try {
    OtherBuild(folder_ + "/some.images", "--against");
    FAIL();
  } catch (const StatusError& error) {
    EXPECT_EQ(error.status().code, StatusCode::kBadArgument);
    for (const char* const words : {"--against is '", "some.images'", "ends within"}) {
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  }
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
