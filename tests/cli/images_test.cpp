// The program away from its build: what it needs is itself and tessera.images, its own and whole.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <span>

#include "base/hash.h"
#include "catalog/catalog.h"
#include "catalog/image_pack.h"
#include "tests/support/beside.h"
#include "tests/support/program.h"

namespace tessera {
namespace {

namespace fs = std::filesystem;

// A copy of the program in a folder of its own, and what is put beside it.
class Copied : public testing::Test {
 protected:
  void SetUp() override { fs::copy_file(beside_test("tessera"), folder_ / "tessera"); }

  void put_images(const std::string& bytes) const { write_text(folder_ / "tessera.images", bytes); }
  Ran run(const std::string& call) const {
    const std::string command =
        (folder_ / "tessera") + " " + call + " > " + (folder_ / "out") + " 2> " + (folder_ / "err");
    const int status = std::system(command.c_str());
    return {WEXITSTATUS(status), file_text(folder_ / "out"), file_text(folder_ / "err")};
  }
  void expect_refused(const std::vector<std::string>& parts) const {
    const Ran ran = run("verify --device virtual --kernel 01 -m 8 -n 8 -k 8");
    EXPECT_EQ(ran.code, 2) << ran.out;
    for (const std::string& part : parts) EXPECT_TRUE(contains(ran.err, part)) << ran.err;
  }

  TemporaryFolder folder_;
};

std::string own_pack() { return file_text(beside_test("tessera.images")); }

// The same images from another commit or manifest, and first lines that are right about it.
std::string pack_of(const std::string& word, const std::string& value) {
  std::string file = own_pack();
  const std::size_t lines_end = file.find("\nhash ") + 1;
  std::string lines = file.substr(0, lines_end);
  const std::string images = file.substr(file.find('\n', lines_end) + 1);
  const std::size_t begin = lines.find("\n" + word + " ") + word.size() + 2;
  lines.replace(begin, lines.find('\n', begin) - begin, value);
  return lines + "hash " + hash_of(std::as_bytes(std::span<const char>(lines))) + "\n" + images;
}

TEST_F(Copied, RunsWithTheFileOfItsImagesAlone) {
  put_images(own_pack());
  const Ran ran = run("verify --device virtual --kernel 01 -m 8 -n 8 -k 8");
  EXPECT_EQ(ran.code, 0) << ran.err;
}

TEST_F(Copied, NamesTheFileThatIsMissing) {
  expect_refused({"cannot read '" + (folder_ / "tessera.images") + "'", "'make build'"});
}

TEST_F(Copied, RefusesATruncatedFile) {
  std::string file = own_pack();
  file.pop_back();
  put_images(file);
  expect_refused({(folder_ / "tessera.images"), "bytes long", "'make build'"});
}

TEST_F(Copied, RefusesTheFileOfAnotherBuild) {
  for (const std::string word : {"commit", "manifest"}) {
    put_images(pack_of(word, "other"));
    expect_refused({(folder_ / "tessera.images"), "is of " + word + " other", "'make build'"});
  }
}

TEST_F(Copied, NamesAnImageThatIsNotCompiled) {
  const ImagePack pack(beside_test("tessera.images"));
  put_images(image_file(pack.origin(), {}));
  expect_refused(
      {"image 01_strided__32x32 of kernel 01_strided is not compiled", "'make library'"});
  const Ran list = run("list");
  EXPECT_EQ(list.code, 0) << list.err;
  EXPECT_TRUE(contains(list.out, "1 of 1 images not compiled ('make library')")) << list.out;
}

// The first image of a kernel alone, as where somebody has built what is shown.
TEST_F(Copied, ListsWhatIsCompiledInPart) {
  const std::vector<std::string> names = image_names_of(*choose_kernels("12").front().kernel);
  ASSERT_GT(names.size(), 1u);
  const std::string stem = beside_test("images/" + names.front());
  if (!fs::exists(stem + ".code")) GTEST_SKIP() << "the build's images did not travel along";
  const ImagePack pack(beside_test("tessera.images"));
  put_images(image_file(pack.origin(), {{.name = names.front(),
                                         .portable_arch = "compute_75",
                                         .cubin_archs = {"sm_90a"},
                                         .text = file_text(stem + ".text"),
                                         .code = file_text(stem + ".code"),
                                         .patch = ""}}));
  const Ran list = run("list --kernel 12");
  EXPECT_EQ(list.code, 0) << list.err;
  EXPECT_TRUE(contains(list.out, "images not compiled ('make library')")) << list.out;
}

}  // namespace
}  // namespace tessera
