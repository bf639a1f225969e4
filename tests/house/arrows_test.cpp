#include "tests/house/arrows.h"

#include <gtest/gtest.h>

#include "tests/house/repository.h"

namespace tessera::house {
namespace {

std::string joined(const std::vector<std::string>& sentences) {
  std::string text;
  for (const std::string& sentence : sentences) text += sentence + "\n";
  return text;
}

bool is_refused(const std::string& path, const std::string& line) {
  return violations(path, "// A file.\n" + line + "\n").size() == 1;
}

TEST(Arrows, EveryIncludeOfTheHouseIsDrawn) {
  const std::vector<SourceFile> files = files_in("src/", {".h", ".cpp", ".cu"});
  ASSERT_GT(files.size(), 50u) << "run from the root of the repository";
  std::vector<std::string> found;
  for (const SourceFile& file : files) {
    for (const std::string& sentence : violations(file.path, file.text)) found.push_back(sentence);
  }
  EXPECT_EQ(joined(found), "");
}

// Tests may include everything, but kernels among them use the library's instructions.
TEST(Arrows, TestsHaveNoAsmOfTheirOwn) {
  for (const SourceFile& file : files_in("tests/", {".h", ".cpp", ".cu"})) {
    for (const std::string& sentence : violations(file.path, file.text)) {
      EXPECT_EQ(sentence.find("inline assembly"), sentence.npos) << sentence;
    }
  }
}

TEST(Arrows, PlantedIncludesAreRefused) {
  EXPECT_TRUE(is_refused("src/problem/problem.h", "#include \"device/device.h\""));
  EXPECT_TRUE(is_refused("src/vgpu/machine.cpp", "#include \"problem/status.h\""));
  EXPECT_TRUE(is_refused("src/sass/cubin.cpp", "#include \"problem/status.h\""));
  EXPECT_TRUE(is_refused("src/device/cuda/cuda_device.cpp", "#include \"vgpu/machine.h\""));
  EXPECT_TRUE(is_refused("src/device/device.h", "#include \"arch/gpu.h\""));
  EXPECT_TRUE(is_refused("src/catalog/catalog.h", "#include \"device/device.h\""));
  EXPECT_TRUE(is_refused("src/catalog/catalog.cpp", "#include \"ladder/02_coalesced/kernel.cu\""));
  EXPECT_TRUE(is_refused("src/gemm/plan.cpp", "#include \"lab/fill.h\""));
  EXPECT_TRUE(is_refused("src/lab/fill.h", "#include \"vgpu/machine.h\""));
  EXPECT_TRUE(is_refused("src/lab/fill.h", "  #  include \"cli/arguments.h\"  // why not"));
  EXPECT_TRUE(is_refused("src/cli/main.cpp", "#include \"ladder/common.h\""));
  EXPECT_TRUE(is_refused("include/tessera/gemm.h", "#include \"problem/params.h\""));
  EXPECT_TRUE(is_refused("src/lab/fill.h", "#include <tessera/gemm.h>"));
}

TEST(Arrows, PlantedIncludesOfDeviceCodeAreRefused) {
  EXPECT_TRUE(is_refused("src/ladder/07_vector_access/kernel.cu", "#include \"kernels/tile/t.h\""));
  EXPECT_TRUE(is_refused("src/ladder/10_general_tile/kernel.cu",
                         "#include \"ladder/09_tile_8x8/config.h\""));
  EXPECT_TRUE(is_refused("src/ladder/12_warp_tile/kernel.cu", "#include \"kernels/simt/s.h\""));
  EXPECT_TRUE(is_refused("src/ladder/12_warp_tile/kernel.cu", "#include \"problem/problem.h\""));
  EXPECT_TRUE(is_refused("src/ladder/05_conflict_free/kernel.cu", "#include \"ladder/more.h\""));
  EXPECT_TRUE(is_refused("src/ladder/06_strip_of_4/kernel.cu", "#include \"ladder/strip.h\""));
  EXPECT_TRUE(is_refused("src/ladder/12_warp_tile/kernel.cu", "#include \"ladder/packed.h\""));
  EXPECT_TRUE(is_refused("src/ladder/12_warp_tile/kernel.cu", "#include \"ladder/async_loop.h\""));
  EXPECT_TRUE(is_refused("src/kernels/ptx/ldmatrix.h", "#include \"kernels/tile/view.h\""));
  EXPECT_TRUE(is_refused("src/kernels/tile/view.h", "#include \"kernels/pipeline/ring.h\""));
  EXPECT_TRUE(is_refused("src/kernels/pipeline/ring.h", "#include \"kernels/scheduler/next.h\""));
  EXPECT_TRUE(is_refused("src/kernels/simt/sgemm.cu", "#include \"kernels/dmma/dgemm.h\""));
}

TEST(Arrows, DrawnIncludesAreAccepted) {
  EXPECT_FALSE(is_refused("src/lab/counts.h", "#include \"vgpu/observe/report.h\""));
  EXPECT_FALSE(is_refused("src/device/virtual/device.cpp", "#include \"vgpu/machine.h\""));
  EXPECT_FALSE(is_refused("src/catalog/catalog.cpp", "#include \"ladder/02_coalesced/config.h\""));
  EXPECT_FALSE(is_refused("src/ladder/01_strided/kernel.cu", "#include \"ladder/common.h\""));
  EXPECT_FALSE(
      is_refused("src/ladder/11_double_buffer/kernel.cu", "#include \"kernels/tile/t.h\""));
  EXPECT_FALSE(is_refused("src/kernels/simt/sgemm.cu", "#include \"kernels/pipeline/ring.h\""));
  EXPECT_FALSE(is_refused("src/kernels/simt/sgemm.cu", "#include \"kernels/ptx/ldmatrix.h\""));
  EXPECT_FALSE(is_refused("src/gemm/c_api.cpp", "#include \"tessera/gemm.h\""));
  EXPECT_FALSE(is_refused("src/cli/list.cpp", "#include <nlohmann/json.hpp>"));
  EXPECT_FALSE(is_refused("src/cli/list.cpp", "#include <sys/ioctl.h>"));
}

TEST(Arrows, AsmIsFoundInCodeOnly) {
  EXPECT_TRUE(is_refused("src/ladder/02_coalesced/kernel.cu", "asm volatile(\"bar.sync 0;\");"));
  EXPECT_TRUE(is_refused("src/vgpu/machine.cpp", "  __asm__(\"\");"));
  EXPECT_TRUE(is_refused("src/lab/fill.cpp", "int x = 1'000; asm(\"\");"));
  EXPECT_FALSE(is_refused("src/kernels/ptx/barrier.h", "asm volatile(\"bar.sync 0;\");"));
  EXPECT_FALSE(is_refused("src/lab/fill.cpp", "// no asm here, and none in \"asm\" either"));
  EXPECT_FALSE(is_refused("src/lab/fill.cpp", "text = \"an asm \\\" asm\"; c = '\"'; d = '\\'';"));
  EXPECT_FALSE(is_refused("src/lab/fill.cpp", "text = R\"(asm \" asm)\"; /* asm */ int asmx;"));
}

}  // namespace
}  // namespace tessera::house
