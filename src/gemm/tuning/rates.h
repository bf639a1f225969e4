// Rates of kernels on a full GPU, the only tuned numbers of the selection. Each refers to a config
// row.
#pragma once

#include <string_view>

namespace tessera::gemm::tuning {

struct Rate {
  std::string_view kernel, variant;
  double tflops;  // whole GPU, large square, column-major NN, burst
};

// HW: measured on an H200 (132 SMs) at 8192 (FP32) and 2048 (FP64). On other GPUs only their order
// and proportion matter.
inline constexpr Rate kH200[] = {
    {"12_warp_tile", "128x128x8", 47.4},
    {"08_tile_4x4", "64x64x16", 25.9},
    {"06_strip_of_4", "2x2", 9.3},
    {"24_tensor_core_wmma", "8x8", 12.8},
};

}  // namespace tessera::gemm::tuning
