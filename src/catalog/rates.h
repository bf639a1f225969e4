// Rates of kernels on a full GPU, the tuned numbers of the cost model. Each refers to a config row.
#pragma once

#include <string_view>

namespace tessera::catalog {

struct Rate {
  std::string_view kernel, variant;
  double tflops;  // whole GPU, large square, burst
};

// HW: an H200 (132 SMs), results/h200_ladder_*.json: 08 at 8192, 06 at 4096, 24 at 2048. On
// other GPUs only their order and proportion matter. simt_f32: whole waves of column-major NT,
// 8448x6144x4096, less what the model adds for storing.
inline constexpr Rate kH200Rates[] = {
    {"simt_f32", "256x128", 58.5}, {"simt_f32", "128x128", 56.5},
    {"simt_f32", "128x64", 53.8},  {"simt_f32", "64x128", 53.8},  // taken to be alike
    {"simt_f32", "64x64", 49.4},   {"simt_f32", "64x32_k4", 42.5},
    {"simt_f32", "128x16", 32.0},  {"simt_f32", "16x128", 32.0},  // taken to be alike
    {"simt_f32", "64x32", 31.0},   {"08_tile_4x4", "64x64x16", 25.9},
    {"06_strip_of_4", "2x2", 9.2}, {"24_tensor_core_wmma", "8x8", 12.9},
};

}  // namespace tessera::catalog
