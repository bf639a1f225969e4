// multiply --type: files of FP32 numbers, multiplied as another type.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <filesystem>

#include "catalog/catalog.h"
#include "cli/files/npy.h"
#include "tests/support/beside.h"
#include "tests/support/program.h"

namespace tessera::cli {
namespace {

float first_of_row(const NpyFile& file, std::int64_t row) {
  const std::int64_t step = file.header().fortran_order ? 1 : file.header().cols;
  float value;
  std::memcpy(&value, file.data() + row * step * sizeof value, sizeof value);
  return value;
}

TEST(MultiplyTypes, NumbersAreRoundedToTheTypeThatIsNamed) {
  if (!std::filesystem::exists(beside_test("tessera"))) GTEST_SKIP() << "no program here";
  const std::string data = TESSERA_SOURCE_DIR "/tests/cli/data/";
  const TemporaryFolder folder;
  const std::string d = folder / "d.npy", a = data + "a_f32.npy", b = data + "b_f32.npy";
  const Ran ran = run_program({"multiply", a, b, "-o", d, "--type", "bf16"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(contains(ran.out, "mma_bf16")) << ran.out;  // wgmma_bf16, too
  const NpyFile got = NpyFile::read(d, "d");
  for (std::int64_t r = 0; r < got.header().rows; ++r) {
    const auto bits = std::bit_cast<std::uint32_t>(first_of_row(got, r));
    EXPECT_EQ(bits & 0xffff, 0u) << "no BF16";
  }
  const Ran host = run_program({"multiply", a, b, "-o", d, "--type", "bf16", "--device", "cpu"});
  EXPECT_EQ(host.code, 2);
  EXPECT_TRUE(contains(host.err, "--type is 'bf16', but must not be given with --device cpu"));
}

// multiply of the two files of this folder.
Ran multiply(const std::vector<std::string>& more) {
  const std::string data = TESSERA_SOURCE_DIR "/tests/cli/data/";
  const TemporaryFolder folder;
  std::vector<std::string> words = {"multiply",       data + "a_f32.npy", data + "b_f32.npy", "-o",
                                    folder / "d.npy", "--device",         "virtual"};
  words.insert(words.end(), more.begin(), more.end());
  return run_program(words);
}

// NumPy has no BF16: the file is one of FP32, and whoever reads it is told what it holds.
TEST(MultiplyTypes, RoundingOfDIsSaid) {
  if (!std::filesystem::exists(beside_test("tessera"))) GTEST_SKIP() << "no program here";
  const Ran rounded = multiply({"--type", "bf16"});
  EXPECT_TRUE(contains(rounded.out,
                       "Its numbers are rounded to bf16 (--type bf16), in a file of f32 as A's; "
                       "'--type bf16,bf16,f32,f32,f32' rounds A and B alone."))
      << rounded.out;
  for (const char* type : {"bf16,bf16,f32,f32,f32", "tf32", "f32"}) {
    const Ran kept = multiply({"--type", type});
    ASSERT_EQ(kept.code, 0) << kept.err;
    EXPECT_FALSE(contains(kept.out, "rounded to")) << kept.out;
  }
  const std::string json = multiply({"--type", "bf16", "--json", "-"}).out;
  EXPECT_TRUE(contains(json, R"("type": "f32")") && contains(json, R"("values": "bf16")")) << json;
  const std::string help = run_program({"multiply", "--help"}).out;
  EXPECT_TRUE(contains(help, "bf16 writes float32")) << help;
  EXPECT_TRUE(contains(help, "the host's BLAS, and virtual with --kernel or --type")) << help;
}

// The files are small, so that the first variant, of the largest tile, is not the fastest.
TEST(MultiplyTypes, AKernelWithoutAVariantIsItsFastestAndTheNextIsNamed) {
  if (!std::filesystem::exists(beside_test("tessera"))) GTEST_SKIP() << "no program here";
  const std::string first = variants_of(*choose_kernels("simt_f32").front().kernel).front();
  const Ran family = multiply({"--kernel", "simt_f32"});
  ASSERT_EQ(family.code, 0) << family.err;
  EXPECT_FALSE(contains(family.out, "computed by simt_f32/" + first + " ")) << family.out;
  EXPECT_TRUE(contains(family.out, " variants by model: ")) << family.out;
  EXPECT_TRUE(contains(family.out, " us, next simt_f32/")) << family.out;
  const Ran named = multiply({"--kernel", "simt_f32/" + first});
  EXPECT_TRUE(contains(named.out, "computed by simt_f32/" + first + " (named; ")) << named.out;
  EXPECT_TRUE(contains(multiply({"--kernel", "12"}).out, "computed by 12_warp_tile/128x128x8 "))
      << "a rung is its first variant: that is what its page is about";
  const Ran several = multiply({"--kernel", "12/all"});
  EXPECT_EQ(several.code, 2);
  EXPECT_TRUE(contains(several.err,
                       "names 4 kernels, but must name one; choose one of "
                       "12_warp_tile/128x128x8, 12_warp_tile/compact, "))
      << several.err;
}

}  // namespace
}  // namespace tessera::cli
