// Matrices that a warp loads from shared memory have their rows at multiples of 16 bytes.
#include <gtest/gtest.h>

#include "tests/check/call.h"

namespace tessera::checking {
namespace {

class CheckMatrixRows : public Check {
 protected:
  static Words by(const std::string& kernel, int stride, int shift) {
    const std::string out = kernel == "by_ldmatrix" ? "d=u32[32]" : "d=f32[256]";
    return joined(
        launch("matrix_rows.cu", kernel, "1", "32", {out, "a=f16[512]:integers"}),
        {"-D", "STRIDE=" + std::to_string(stride), "-D", "SHIFT=" + std::to_string(shift)});
  }
};

TEST_F(CheckMatrixRows, OfWmmaInSharedMemory) {
  const Words parts = {"error: misaligned: ", "each row or column of this matrix needs an address",
                       "multiple of 16", "matrix_rows.cu:23"};
  expect_says(by("by_wmma", 24, 0), 0, {"clean: no finding"});
  expect_says(by("by_wmma", 24, 8), 0, {"clean: no finding"});
  expect_says(by("by_wmma", 20, 0), 1, parts);
  expect_says(by("by_wmma", 24, 2), 1, parts);
}

TEST_F(CheckMatrixRows, OfWmmaInGlobalMemoryMayLieAnywhere) {
  expect_says(by("from_global", 20, 2), 0, {"clean: no finding"});
}

TEST_F(CheckMatrixRows, OfLdmatrix) {
  expect_says(by("by_ldmatrix", 24, 8), 0, {"clean: no finding"});
  expect_says(by("by_ldmatrix", 20, 0), 1, {"error: misaligned: ", "multiple of 16"});
  expect_says(by("by_ldmatrix", 24, 4), 1, {"error: misaligned: ", "multiple of 16"});
}

}  // namespace
}  // namespace tessera::checking
