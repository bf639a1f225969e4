// Matrices that a warp loads from shared memory have their rows at multiples of 16 bytes.
#include <gtest/gtest.h>

#include "tests/check/call.h"
#include "tests/check/small_kernel.h"

namespace tessera::checking {
namespace {

class CheckMatrixRows : public Check {
 protected:
  static Words by(const std::string& kernel, int stride, int shift) {
    return joined(
        launch("rules/matrix_rows.cu", kernel, "1", "32", {"d=f32[256]", "a=f16[512]:integers"}),
        {"-D", "STRIDE=" + std::to_string(stride), "-D", "SHIFT=" + std::to_string(shift)});
  }
  // Each lane fills 32 bytes of the tile, and gives the address of a row. In bytes.
  static Words by_ldmatrix(int stride, int shift) {
    std::string fill;
    for (int at = 0; at < 32; at += 4) {
      fill += "st.shared.u32 [%r5+" + std::to_string(at) + "], %r12;\n";
    }
    const std::string path = testing::TempDir() + "/by_ldmatrix.ptx";
    write_text(path, kernel_of(".shared .align 128 .b8 tile[1024];\nmov.u32 %r4, tile;\n"
                               "mad.lo.s32 %r5, %r12, 32, %r4;\n" +
                               fill + "bar.warp.sync -1;\nand.b32 %r6, %r12, 7;\n" +
                               "mad.lo.s32 %r7, %r6, " + std::to_string(stride) + ", %r4;\n" +
                               "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r8}, [%r7+" +
                               std::to_string(shift) + "];\nst.global.u32 [%rd4], %r8;\n"));
    return {path, "--grid", "1", "--block", "32", "--arg", "word=null", "--arg", "out=u32[32]"};
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
  expect_says(by_ldmatrix(48, 16), 0, {"clean: no finding"});
  expect_says(by_ldmatrix(40, 0), 1, {"error: misaligned: ", "multiple of 16"});
  expect_says(by_ldmatrix(48, 8), 1, {"error: misaligned: ", "multiple of 16"});
}

}  // namespace
}  // namespace tessera::checking
