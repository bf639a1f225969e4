// multiply --type: files of FP32 numbers, multiplied as another type.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <filesystem>

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

}  // namespace
}  // namespace tessera::cli
