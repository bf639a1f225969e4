// The file of images: what goes in comes out, damage is an error with the path in it, and the build
// leaves out what is stale.
#include "catalog/image_pack.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <span>
#include <sstream>

#include "base/hash.h"
#include "base/status.h"
#include "catalog/catalog.h"
#include "catalog/manifest.h"
#include "catalog/pack.h"
#include "tests/support/beside.h"
#include "tests/support/limits.h"

namespace tessera {
namespace {

namespace fs = std::filesystem;

class Folder : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("tessera_images_" + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& bytes) const {
    const fs::path path = folder_ / name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path.string();
  }

  fs::path folder_;
};

std::string error_of(const auto& act) {
  try {
    act();
  } catch (const StatusError& error) {
    EXPECT_EQ(error.status().code, StatusCode::kUnavailable);
    return error.what();
  }
  return "";
}

std::vector<PackedImage> two_images() {
  const std::string known = "cubin of one";
  return {{"one",
           "compute_75",
           {"sm_90a", "sm_86"},
           pack({"ptx", "old ptx"}),
           pack({known, "cubin 86"}),
           pack({"patched", "hash", "note"}, known)},
          {"two", "", {"sm_90a"}, pack({"ptx of two", ""}), pack({"cubin"}), ""}};
}

const PackOrigin kOrigin = {"abc-dirty", "0123456789abcdef"};

using Images = Folder;

TEST_F(Images, ComeBackAsTheyWere) {
  const std::string path = write("tessera.images", image_file(kOrigin, two_images()));
  const std::unique_ptr<ImagePack> pack = load_images(folder_.string());  // finds the file in it
  EXPECT_EQ(pack->path(), path);
  EXPECT_EQ(pack->origin().commit, "abc-dirty");
  EXPECT_EQ(pack->origin().manifest, "0123456789abcdef");
  EXPECT_EQ(pack->names(), (std::vector<std::string_view>{"one", "two"}));
  const CodeImage& one = *pack->find("one");
  EXPECT_EQ(&one, pack->find("one"));
  EXPECT_EQ(one.name, "one");
  EXPECT_EQ(one.ptx.view(), "ptx");
  EXPECT_EQ(one.ptx.view().data()[3], '\0');
  EXPECT_EQ(one.portable_ptx.view(), "old ptx");
  EXPECT_EQ(one.portable_arch, "compute_75");
  EXPECT_EQ(one.cubin_arch, "sm_90a");
  EXPECT_EQ(one.cubin.size(), std::string("cubin of one").size());
  ASSERT_EQ(one.further_cubins.size(), 1u);
  EXPECT_EQ(one.further_cubins[0].arch, "sm_86");
  EXPECT_EQ(one.patched.bytes.size(), 7u);
  EXPECT_EQ(one.patched.made_from, "hash");
  EXPECT_EQ(one.patched.note, "note");
  EXPECT_TRUE(one.patched.is_checked);
  EXPECT_TRUE(pack->find("two")->patched.bytes.empty());
  EXPECT_TRUE(pack->find("two")->portable_ptx.empty());
  EXPECT_EQ(pack->find("three"), nullptr);
}

// What libtessera.so holds inside of it.
TEST_F(Images, MayBeSomebodyElsesBytes) {
  const std::string file = image_file(kOrigin, two_images());
  ImagePack pack("this library", file);
  EXPECT_EQ(pack.find("two")->ptx.view(), "ptx of two");
  const std::string error =
      error_of([&] { ImagePack("this library", std::string_view(file).substr(0, 99)); });
  EXPECT_NE(error.find("'this library'"), std::string::npos) << error;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(Images, AMissingFileIsNamed) {
  const std::string missing = (folder_ / "none").string();
  const std::string error = error_of([&] { load_images(missing); });
  EXPECT_TRUE(contains(error, "cannot read '" + missing + "'")) << error;
  EXPECT_TRUE(contains(error, "'make build'")) << error;
}

TEST_F(Images, ATruncatedFileIsNamedWithBothSizes) {
  const std::string file = image_file(kOrigin, two_images());
  for (std::size_t size = 0; size < file.size(); ++size) {
    const std::string path = write("cut", file.substr(0, size));
    const std::string error = error_of([&] { load_images(path); });
    EXPECT_TRUE(contains(error, "'" + path + "'")) << size << error;
    if (size + 1 == file.size()) {
      EXPECT_TRUE(contains(error, std::to_string(size) + " bytes long")) << error;
      EXPECT_TRUE(contains(error, "say " + std::to_string(file.size()))) << error;
    }
  }
  const std::string path = write("long", file + "x");
  EXPECT_TRUE(contains(error_of([&] { load_images(path); }), "bytes long"));
}

TEST_F(Images, FirstLinesOfAnotherHashAreRefused) {
  const std::string file = image_file(kOrigin, two_images());
  for (const char* const word : {"abc-dirty", "0123456789abcdef", "compute_75", "sm_86"}) {
    std::string changed = file;
    changed[changed.find(word)] ^= 1;
    const std::string path = write("changed", changed);
    const std::string error = error_of([&] { load_images(path); });
    EXPECT_TRUE(contains(error, "'" + path + "' has first lines of hash")) << word << error;
  }
}

// Builds of earlier commits are timed in turn with this one.
TEST_F(Images, ThoseOfAnEarlierBuildAreRead) {
  const std::string known = "cubin of one", packed = pack({"ptx", "old ptx", known});
  const std::string patch = pack({"patched", "hash", "note"}, known);
  const auto hash = [](const std::string& text) {
    return hash_of(std::as_bytes(std::span<const char>(text)));
  };
  std::string file =
      "tessera images 2\ncommit abc\nmanifest 01\nimage one portable compute_75 cubins sm_90a "
      "packed " +
      std::to_string(packed.size()) + " " + hash(packed) + " patch " +
      std::to_string(patch.size()) + " " + hash(patch) + "\n";
  file += "hash " + hash(file) + "\n" + packed + patch;
  ImagePack pack("earlier", file);
  const CodeImage& one = *pack.find("one");
  EXPECT_EQ(one.ptx.view(), "ptx");
  EXPECT_EQ(one.portable_ptx.view(), "old ptx");
  EXPECT_EQ(one.cubin.size(), known.size());
  EXPECT_EQ(one.patched.bytes.size(), 7u);
  EXPECT_FALSE(one.patched.is_checked);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(one.cubin.data()) % 8, 0u);
}

// PTX is unpacked, and its bytes compared, when it is read.
TEST_F(Images, ABrokenTextLeavesTheCubinUsable) {
  std::vector<PackedImage> images = two_images();
  std::string file = image_file(kOrigin, images);
  file[file.find(images[0].text) + 9] ^= 0x55;
  ImagePack pack("broken", file);
  const CodeImage& one = *pack.find("one");
  EXPECT_EQ(one.cubin.size(), std::string("cubin of one").size());
  const std::string error = error_of([&] { one.ptx.view(); });
  EXPECT_TRUE(contains(error, "image one in 'broken' has hash ")) << error;
}

// Bytes of an image that lie in a sound file.
TEST_F(Images, ABrokenImageNamesItselfItsFileAndBothHashes) {
  std::string file = image_file(kOrigin, two_images());
  file.back() ^= 0x55;  // of the second one
  const std::string path = write("broken", file);
  const std::unique_ptr<ImagePack> pack = load_images(path);
  EXPECT_NE(pack->find("one"), nullptr);
  for (int i = 0; i < 2; ++i) {
    const std::string error = error_of([&] { pack->find("two"); });
    EXPECT_TRUE(contains(error, "image two in '" + path + "' has hash ")) << error;
  }
}

TEST_F(Images, BytesThatCannotBeUnpackedAreRefused) {
  std::vector<PackedImage> images = two_images();
  images[1].code[images[1].code.size() / 2] ^= 0x55;  // and the hash is of these
  images[0].patch = "no patch";
  const std::string path = write("broken", image_file(kOrigin, images));
  const std::unique_ptr<ImagePack> pack = load_images(path);
  for (const char* const name : {"one", "two"}) {
    const std::string error = error_of([&] { pack->find(name); });
    EXPECT_TRUE(contains(error, "image " + std::string(name) + " in '" + path + "'")) << error;
    EXPECT_TRUE(contains(error, "unpacked")) << error;
  }
}

// Parameters that a plan hands over may mean something else in another build's code.
TEST_F(Images, OfAnotherManifestOrCommitAreRefused) {
  const std::string path = write("tessera.images", image_file(kOrigin, two_images()));
  const std::unique_ptr<ImagePack> pack = load_images(path);
  check_is_of(*pack, kOrigin);
  check_is_of(*pack, {"", kOrigin.manifest});  // a program that does not know its commit
  const auto refusal = [&](const PackOrigin& program) {
    return error_of([&] { check_is_of(*pack, program); });
  };
  const std::string of_commit = refusal({"def", kOrigin.manifest});
  EXPECT_TRUE(contains(of_commit, "'" + path +
                                      "' is of commit abc-dirty, but this program is of "
                                      "commit def"))
      << of_commit;
  EXPECT_TRUE(contains(of_commit, "'make build'")) << of_commit;
  EXPECT_TRUE(contains(refusal({"abc-dirty", "00"}), "is of manifest 0123456789abcdef"));
}

TEST(Manifest, IsWhatTheCatalogSays) {
  std::ifstream file("src/catalog/manifest.txt", std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), catalog::manifest_text()) << "run build/write_manifest";
}

TEST(Manifest, NamesEveryEntryOnce) {
  std::set<std::string> names;
  std::size_t entries = 0, library_entries = 0;
  for (const catalog::ImageContents& image : catalog::all_images()) {
    EXPECT_TRUE(names.insert(image.name).second) << image.name;
    entries += image.rows.size() + image.helpers.size();
    EXPECT_LE(image.rows.size() + image.helpers.size(), std::size_t(limit("entries_of_an_image")))
        << image.name << ": the budget of an image, 15 CPU-seconds";
    if (image.kernel->source.starts_with("kernels/")) {
      library_entries += image.rows.size() + image.helpers.size();
    }
  }
  std::size_t expected = 0;
  for (const Kernel* pass : pass_kernels()) expected += pass->helpers.size();
  for (const Kernel& kernel : all_kernels()) expected += kernel.rows.size() + kernel.helpers.size();
  EXPECT_EQ(entries, expected);
  // 250, 25 that give BF16, FP16 and TF32 to GPUs other than Hopper (90 CPU-seconds), and 4 for
  // batches of products of 32 x 32, which fill no tile that a single product chooses; 5 that take
  // TF32 across k, 8 that FP16 has like BF16, and one for products with a vector; 4 that apply an
  // epilogue after any product (2 CPU-seconds), and 26 of tiles that apply one in their store (54);
  // 8 more for batches of small products, which a kernel of their own takes (6), and 44 that give
  // the other types one (100); 17 for batches of FP32 products of any size (20), 8 of tiles for
  // short products (16), and 16 for single FP32 products whose operands stay as they are (15);
  // 8 of a tile that applies an epilogue to products of few tiles (16), 17 that multiply a
  // matrix by up to 16 vectors, in all types (25), 3 for 8-bit integers (9), and 4
  // that apply an epilogue after any product and write what its activation takes, too (2);
  // 18 of tiles that do so in their store (42); 10 of FP64 tiles for outputs of a few dozen rows or
  // columns more than a multiple of 64 (22), and one that makes tensor maps (1).
  EXPECT_LE(library_entries, std::size_t(limit("library_entries")))
      << "the budget of a cold build: chosen_entries says which entries no plan takes; remove one, "
         "or raise the limit in tests/limits.txt, and say above what it is for and what it costs";
}

// `make run` compiles what its table shows and no more: of each rung the image of its default
// config.
TEST(Manifest, ShowsTheDefaultConfigOfEachRung) {
  std::set<std::string> expected, shown;
  for (const KernelChoice& rung : choose_kernels("rungs")) {
    expected.insert(rung.kernel->rows.front().image);
  }
  for (const catalog::ImageContents& image : catalog::all_images()) {
    if (image.is_shown) shown.insert(image.name);
  }
  EXPECT_EQ(shown, expected);
}

// The build's last step, on a folder of made-up images.
class PackImages : public Folder {
 protected:
  void SetUp() override {
    Folder::SetUp();
    if (!fs::exists(beside_test("pack_images"))) GTEST_SKIP() << "the build's steps are not here";
    write("manifest.txt",
          "# a comment\nimage one__a source k.cu portable 75 shown\n  entry x\n"
          "image one__b source k.cu portable 0\nimage two__a patched_from one__b\n");
    write("commit.txt", "abc-dirty\n");
    write("source.h", "");
    for (const std::string name : {"one__a", "one__b"}) {
      write(name + ".inputs", (folder_ / "source.h").string() + "\n");
      write(name + ".sm_90a.cubin", "");
      write(name + ".text", pack({"ptx", "portable"}));
      write(name + ".code", pack({"cubin", "more"}));
    }
    const std::string cubin = "cubin";
    hash_ = hash_of(std::as_bytes(std::span<const char>(cubin)));
    write("one__b.patch", pack({"patched", hash_, "note"}, cubin));
  }

  // Under a clock that the test sets: two files of one tick are of one time.
  void touch(const std::string& name, int seconds) const {
    fs::last_write_time(folder_ / name,
                        fs::file_time_type::clock::now() + std::chrono::seconds(seconds));
  }

  int run(const std::string& option, const std::string& patched_kernels = "") const {
    const std::string folder = folder_.string();
    const std::string call = beside_test("pack_images") + option + " " + folder + "/out " + folder +
                             "/manifest.txt " + folder + " 'sm_90a;sm_86' '" + patched_kernels +
                             "' " + folder + "/commit.txt";
    return std::system(call.c_str());
  }

  std::vector<std::string> packed(const std::string& patched_kernels = "") const {
    const std::string folder = folder_.string();
    EXPECT_EQ(run("", patched_kernels), 0);
    const std::unique_ptr<ImagePack> pack = load_images(folder + "/out");
    const auto names = pack->names();
    return {names.begin(), names.end()};
  }

  std::string hash_;  // of the cubin
};

using Names = std::vector<std::string>;

TEST_F(PackImages, TakesWhatIsThere) {
  EXPECT_EQ(packed(), (Names{"one__a", "one__b", "two__a"}));
  const std::unique_ptr<ImagePack> pack = load_images((folder_ / "out").string());
  EXPECT_EQ(pack->origin().commit, "abc-dirty");
  std::ifstream manifest(folder_ / "manifest.txt", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(manifest), {}};
  EXPECT_EQ(pack->origin().manifest, hash_of(std::as_bytes(std::span<const char>(text))));
  EXPECT_EQ(pack->find("one__a")->portable_arch, "compute_75");
  EXPECT_EQ(pack->find("one__a")->further_cubins.size(), 1u);
  EXPECT_EQ(pack->find("one__b")->portable_arch, "");
  EXPECT_TRUE(pack->find("one__b")->further_cubins.empty());
  EXPECT_TRUE(pack->find("one__b")->patched.made_from.empty());
  EXPECT_EQ(pack->find("two__a")->patched.made_from, hash_);
  fs::remove(folder_ / "one__a.code");
  EXPECT_EQ(packed(), (Names{"one__b", "two__a"}));
}

TEST_F(PackImages, LeavesOutWhatIsStale) {
  write("other.h", "");
  write("one__b.inputs", (folder_ / "other.h").string() + "\n");
  touch("other.h", 10);
  EXPECT_EQ(packed(), Names{"one__a"});
  fs::remove(folder_ / "source.h");
  EXPECT_EQ(packed(), Names{});
}

TEST_F(PackImages, AskedForAllNamesWhatIsMissing) {
  EXPECT_EQ(run(" --all"), 0);
  fs::remove(folder_ / "one__a.code");
  EXPECT_NE(run(" --all"), 0);
}

TEST_F(PackImages, APatchBelongsToItsCubin) {
  EXPECT_EQ(packed("one"), (Names{"one__b", "two__a"}));  // one__a has no patch yet
  touch("one__b.sm_90a.cubin", 10);
  EXPECT_EQ(packed("one"), Names{});
}

TEST_F(PackImages, APatchOfAnotherCubinIsRefused) {
  write("one__b.patch", pack({"patched", "0123456789abcdef", "note"}, "cubin"));
  EXPECT_NE(run("", "one"), 0);
}

}  // namespace
}  // namespace tessera
