// Rates of kernels on a full GPU, the only tuned numbers of the selection. Each refers to a config
// row.
#pragma once

#include <string_view>

namespace tessera::gemm::tuning {

struct Rate {
  std::string_view kernel, variant;
  double tflops;  // whole GPU, large square, burst
};

// HW: an H200 (132 SMs), results/h200_ladder_*.json: 12 and 08 at 8192, 06 at 4096, 24 at 2048. On
// other GPUs only their order and proportion matter. simt_f32: full waves alone, column-major NT
// at 8192 with whole tiles (results/h200_fp32_variants.json), divided by the full share of waves.
inline constexpr Rate kH200[] = {
    {"simt_f32", "256x128", 58.3},        {"simt_f32", "128x128", 56.5},
    {"simt_f32", "128x64", 50.5},         {"simt_f32", "64x64", 41.5},
    {"simt_f32", "128x16", 31.3},         {"simt_f32", "64x32", 31.6},
    {"simt_f32", "64x32_k4", 28.5},       {"12_warp_tile", "128x128x8", 47.5},
    {"08_tile_4x4", "64x64x16", 25.9},    {"06_strip_of_4", "2x2", 9.2},
    {"24_tensor_core_wmma", "8x8", 12.9},
};

}  // namespace tessera::gemm::tuning
