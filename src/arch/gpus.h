// The GPUs we know, with the source of each number. "Whitepaper" means the architecture whitepaper
// of NVIDIA.
#pragma once

#include <array>
#include <string_view>

#include "arch/gpu.h"

namespace tessera::arch {

inline constexpr Gpu kH200 = {
    .name = "h200",
    .match = "H200",
    .sm = 90,                   // HW: CUDA C++ Programming Guide, compute capabilities
    .sms = 132,                 // HW: cuDeviceGetAttribute on an H200
    .fp32_lanes = 128,          // HW: H100 whitepaper (Hopper architecture in depth)
    .fp64_lanes = 64,           // HW: H100 whitepaper (Hopper architecture in depth)
    .fp64_tensor_lanes = 128,   // HW: H200 data sheet: FP64 tensor rate is twice FP64
    .f16_tensor_lanes = 2048,   // HW: H100 whitepaper: 989 TFLOP/s at 1.83 GHz
    .bf16_tensor_lanes = 2048,  // HW: the same page
    .tf32_tensor_lanes = 1024,  // HW: the same page
    .clock_ghz = 1.98,          // HW: cuDeviceGetAttribute and NVML maximum SM clock on an H200
    .memory_gbs = 4800,         // HW: H200 data sheet: 4.8 TB/s
    .l2_kib =
        61440,  // HW: reported by the driver of an H200 (results/ladder/h200_ladder_4096.json)
    .shared_kib = 228,        // HW: CUDA C++ Programming Guide, compute capability 9.0
    .shared_block_kib = 227,  // HW: the same table
    .registers = 65536,       // HW: the same table
    .measured_fp32 =
        66.5,  // HW: FFMAs alone, half a second (results/calibration/h200_registers.json)
    .estimated_fp64 = 33.3,  // assumes the same share of the peak as the FFMA loop
    // HW: a value between the rates of stream_copy (3959 GB/s) and stream_read (4541 GB/s) in
    // results/calibration/h200_calibration.json. The cost model was fitted with this value.
    .assumed_copy = 4265,
};

inline constexpr Gpu kH100 = {
    .name = "h100",
    .match = "H100 80GB HBM3",  // HW: the SXM module; others have fewer SMs and slower memory
    .sm = 90,                   // HW: CUDA C++ Programming Guide, compute capabilities
    .sms = 132,                 // HW: cuDeviceGetAttribute (results/drawn/h100_79a6f2a0.json.xz)
    .fp32_lanes = 128,          // HW: H100 whitepaper (Hopper architecture in depth)
    .fp64_lanes = 64,           // HW: the same page
    .fp64_tensor_lanes = 128,   // HW: the same page
    .f16_tensor_lanes = 2048,   // HW: the same page
    .bf16_tensor_lanes = 2048,  // HW: the same page
    .tf32_tensor_lanes = 1024,  // HW: the same page
    .clock_ghz = 1.98,          // HW: maximum SM clock (results/drawn/h100_79a6f2a0.json.xz)
    .memory_gbs = 3350,         // HW: H100 data sheet, SXM: 3.35 TB/s
    .l2_kib = 51200,            // HW: reported by the driver (results/drawn/h100_79a6f2a0.json.xz)
    .shared_kib = 228,          // HW: CUDA C++ Programming Guide, compute capability 9.0
    .shared_block_kib = 227,    // HW: the same table
    .registers = 65536,         // HW: the same table
    .measured_fp32 = 0,
    .estimated_fp64 = 0,
    .assumed_copy = 0,
};

inline constexpr Gpu kA100 = {
    .name = "a100",
    .match = "A100",
    .sm = 80,                   // HW: CUDA C++ Programming Guide, compute capabilities
    .sms = 108,                 // HW: A100 whitepaper
    .fp32_lanes = 64,           // HW: A100 whitepaper
    .fp64_lanes = 32,           // HW: A100 whitepaper
    .fp64_tensor_lanes = 64,    // HW: A100 whitepaper: 19.5 TFLOP/s
    .f16_tensor_lanes = 1024,   // HW: A100 whitepaper: 312 TFLOP/s
    .bf16_tensor_lanes = 1024,  // HW: the same page
    .tf32_tensor_lanes = 512,   // HW: the same page
    .clock_ghz = 1.41,          // HW: A100 whitepaper
    .memory_gbs = 1555,         // HW: A100 whitepaper, 40 GB card
    .l2_kib = 40960,            // HW: A100 whitepaper
    .shared_kib = 164,          // HW: CUDA C++ Programming Guide, compute capability 8.0
    .shared_block_kib = 163,    // HW: the same table
    .registers = 65536,         // HW: the same table
    .measured_fp32 = 0,
    .estimated_fp64 = 0,
    .assumed_copy = 0,
};

inline constexpr Gpu kV100 = {
    .name = "v100",
    .match = "V100",
    .sm = 70,                 // HW: CUDA C++ Programming Guide, compute capabilities
    .sms = 80,                // HW: V100 whitepaper
    .fp32_lanes = 64,         // HW: V100 whitepaper
    .fp64_lanes = 32,         // HW: V100 whitepaper
    .fp64_tensor_lanes = 0,   // HW: V100 whitepaper: tensor cores are 16-bit only
    .f16_tensor_lanes = 512,  // HW: V100 whitepaper: 125 TFLOP/s
    .bf16_tensor_lanes = 0,   // HW: the same page
    .tf32_tensor_lanes = 0,   // HW: the same page
    .clock_ghz = 1.53,        // HW: V100 whitepaper, SXM2
    .memory_gbs = 900,        // HW: V100 whitepaper
    .l2_kib = 6144,           // HW: V100 whitepaper
    .shared_kib = 96,         // HW: CUDA C++ Programming Guide, compute capability 7.0
    .shared_block_kib = 96,   // HW: the same table
    .registers = 65536,       // HW: the same table
    .measured_fp32 = 0,
    .estimated_fp64 = 0,
    .assumed_copy = 0,
};

inline constexpr Gpu kRtx3090 = {
    .name = "rtx3090",
    .match = "RTX 3090",
    .sm = 86,                  // HW: CUDA C++ Programming Guide, compute capabilities
    .sms = 82,                 // HW: GA102 whitepaper
    .fp32_lanes = 128,         // HW: GA102 whitepaper
    .fp64_lanes = 2,           // HW: GA102 whitepaper: 1/64 of FP32
    .fp64_tensor_lanes = 0,    // HW: GA102 whitepaper
    .f16_tensor_lanes = 256,   // HW: GA102 whitepaper: 71 TFLOP/s, summed in FP32
    .bf16_tensor_lanes = 256,  // HW: the same page
    .tf32_tensor_lanes = 128,  // HW: the same page
    .clock_ghz = 1.695,        // HW: GA102 whitepaper
    .memory_gbs = 936,         // HW: GA102 whitepaper
    .l2_kib = 6144,            // HW: GA102 whitepaper
    .shared_kib = 100,         // HW: CUDA C++ Programming Guide, compute capability 8.6
    .shared_block_kib = 99,    // HW: the same table
    .registers = 65536,        // HW: the same table
    .measured_fp32 = 0,
    .estimated_fp64 = 0,
    .assumed_copy = 0,
};

inline constexpr Gpu kRtx4090 = {
    .name = "rtx4090",
    .match = "RTX 4090",
    .sm = 89,                  // HW: CUDA C++ Programming Guide, compute capabilities
    .sms = 128,                // HW: Ada whitepaper
    .fp32_lanes = 128,         // HW: Ada whitepaper
    .fp64_lanes = 2,           // HW: Ada whitepaper: 1/64 of FP32
    .fp64_tensor_lanes = 0,    // HW: Ada whitepaper
    .f16_tensor_lanes = 256,   // HW: Ada whitepaper: 165 TFLOP/s, summed in FP32
    .bf16_tensor_lanes = 256,  // HW: the same page
    .tf32_tensor_lanes = 128,  // HW: the same page
    .clock_ghz = 2.52,         // HW: Ada whitepaper
    .memory_gbs = 1008,        // HW: Ada whitepaper
    .l2_kib = 73728,           // HW: Ada whitepaper
    .shared_kib = 100,         // HW: CUDA C++ Programming Guide, compute capability 8.9
    .shared_block_kib = 99,    // HW: the same table
    .registers = 65536,        // HW: the same table
    .measured_fp32 = 0,
    .estimated_fp64 = 0,
    .assumed_copy = 0,
};

inline constexpr Gpu kRtx2080Ti = {
    .name = "2080ti",
    .match = "RTX 2080 Ti",
    .sm = 75,                 // HW: CUDA C++ Programming Guide, compute capabilities
    .sms = 68,                // HW: Turing whitepaper
    .fp32_lanes = 64,         // HW: Turing whitepaper
    .fp64_lanes = 2,          // HW: Turing whitepaper: 1/32 of FP32
    .fp64_tensor_lanes = 0,   // HW: Turing whitepaper
    .f16_tensor_lanes = 256,  // HW: Turing whitepaper: 53.8 TFLOP/s, summed in FP32
    .bf16_tensor_lanes = 0,   // HW: the same page
    .tf32_tensor_lanes = 0,   // HW: the same page
    .clock_ghz = 1.545,       // HW: Turing whitepaper, reference card
    .memory_gbs = 616,        // HW: Turing whitepaper
    .l2_kib = 5632,           // HW: Turing whitepaper
    .shared_kib = 64,         // HW: CUDA C++ Programming Guide, compute capability 7.5
    .shared_block_kib = 64,   // HW: the same table
    .registers = 65536,       // HW: the same table
    .measured_fp32 = 0,
    .estimated_fp64 = 0,
    .assumed_copy = 0,
};

inline constexpr std::array kGpus = {kH200, kH100, kA100, kV100, kRtx3090, kRtx4090, kRtx2080Ti};

// Returns the hardware numbers of a device by the name that its driver reports ("NVIDIA H200"), or
// null if the GPU is unknown.
constexpr const Gpu* find_gpu(std::string_view device_name) {
  for (const Gpu& gpu : kGpus) {
    if (device_name.find(gpu.match) != std::string_view::npos) return &gpu;
  }
  return nullptr;
}

}  // namespace tessera::arch
