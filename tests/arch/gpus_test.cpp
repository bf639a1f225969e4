// The hardware numbers against figures that do not follow from them: data sheet peaks and loops.
#include "arch/gpus.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>

namespace tessera {
namespace {

TEST(Arch, PeaksAreThoseOfTheDataSheets) {
  EXPECT_NEAR(arch::kH200.fp64_tensor_peak(), 67, 0.5);
  EXPECT_NEAR(arch::kA100.fp32_peak(), 19.5, 0.05);
  EXPECT_NEAR(arch::kA100.fp64_peak(), 9.7, 0.05);
  EXPECT_NEAR(arch::kA100.fp64_tensor_peak(), 19.5, 0.05);
  EXPECT_NEAR(arch::kA100.bf16_tensor_peak(), 312, 0.5);
  EXPECT_NEAR(arch::kA100.f16_tensor_peak(), 312, 0.5);
  EXPECT_NEAR(arch::kA100.tf32_tensor_peak(), 156, 0.5);
  EXPECT_NEAR(arch::kH100.fp64_tensor_peak(), 67, 0.5);
  EXPECT_NEAR(arch::kH100.bf16_tensor_peak() * 1.83 / arch::kH100.clock_ghz, 989, 0.5);
  EXPECT_NEAR(arch::kH200.bf16_tensor_peak() * 1.83 / arch::kH200.clock_ghz, 989, 0.5);
  EXPECT_NEAR(arch::kH200.tf32_tensor_peak() * 1.83 / arch::kH200.clock_ghz, 494.7, 0.5);
  EXPECT_NEAR(arch::kV100.f16_tensor_peak(), 125, 0.5);
  EXPECT_EQ(arch::kV100.bf16_tensor_peak(), 0);
  EXPECT_NEAR(arch::kRtx4090.bf16_tensor_peak(), 165.2, 0.5);
  EXPECT_NEAR(arch::kV100.fp32_peak(), 15.7, 0.05);
  EXPECT_NEAR(arch::kRtx3090.fp32_peak(), 35.6, 0.05);
  EXPECT_NEAR(arch::kRtx4090.fp32_peak(), 82.6, 0.05);
  EXPECT_NEAR(arch::kRtx2080Ti.fp32_peak(), 13.4, 0.05);
}

TEST(Arch, NothingMeasuredIsAbovePeak) {
  for (const arch::Gpu& gpu : arch::kGpus) {
    EXPECT_LE(gpu.measured_fp32, gpu.fp32_peak()) << gpu.name;
    EXPECT_LE(gpu.estimated_fp64, gpu.fp64_peak()) << gpu.name;
    EXPECT_LE(gpu.assumed_copy, gpu.memory_gbs) << gpu.name;
    EXPECT_LE(gpu.shared_block_kib, gpu.shared_kib) << gpu.name;
  }
}

// What is called measured names the file of its measurement; the estimates have other names.
TEST(Arch, WhatIsCalledMeasuredNamesItsFile) {
  std::ifstream file(TESSERA_SOURCE_DIR "/src/arch/gpus.h");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::regex field("[.]measured_\\w+ =\\s*([0-9.]+),([^\n]*)");
  int measured = 0;
  for (std::sregex_iterator at(text.begin(), text.end(), field), end; at != end; ++at) {
    if (at->str(1) == "0") continue;
    ++measured;
    EXPECT_NE(at->str(2).find("results/"), std::string::npos) << at->str();
  }
  EXPECT_EQ(measured, 1);
}

TEST(Arch, FindsAGpuByItsDriverName) {
  EXPECT_EQ(arch::find_gpu("NVIDIA H200")->sm, 90);
  EXPECT_EQ(arch::find_gpu("NVIDIA H100 80GB HBM3"), &arch::kGpus[1]);
  EXPECT_EQ(arch::find_gpu("NVIDIA H100 PCIe"), nullptr);
  EXPECT_EQ(arch::find_gpu("NVIDIA GeForce RTX 2080 Ti")->sm, 75);
  EXPECT_EQ(arch::find_gpu("Tesla V100-SXM2-16GB")->sm, 70);
  EXPECT_EQ(arch::find_gpu("virtual"), nullptr);
}

}  // namespace
}  // namespace tessera
