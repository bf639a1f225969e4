// Hardware numbers that differ between GPUs: one struct per GPU. Peak rates are computed from lanes
// and clocks. gpus.h names the source of each number.
#pragma once

namespace tessera::arch {

// Numbers that differ between GPUs. Rates are per second at the boost clock, for dense matrices.
struct Gpu {
  const char* name;       // "h200"
  const char* match;      // part of the driver's device name, "H200"
  int sm;                 // compute capability, 90
  int sms;                // SMs
  int fp32_lanes;         // FP32 multiply-adds per clock and SM
  int fp64_lanes;         // FP64 multiply-adds per clock and SM, without tensor cores
  int fp64_tensor_lanes;  // FP64 multiply-adds on tensor cores; 0: no FP64 tensor cores
  // FP16, BF16 and TF32 multiply-adds per clock and SM, with sums in FP32; 0 if the GPU has no such
  // tensor cores.
  int f16_tensor_lanes, bf16_tensor_lanes, tf32_tensor_lanes;
  double clock_ghz;      // boost clock
  double memory_gbs;     // device memory, GB/s (10^9)
  int l2_kib;            // L2 cache
  int shared_kib;        // shared memory per SM
  int shared_block_kib;  // most shared memory of one block
  int registers;         // 32-bit registers per SM
  // In the next three fields 0 means unknown.
  double measured_fp32;   // TFLOP/s of a pure FFMA loop
  double estimated_fp64;  // TFLOP/s of a pure DFMA loop; estimated, never run
  double assumed_copy;    // GB/s of device memory in the cost model

  // Peak rates in TFLOP/s that lanes and clock allow. A multiply-add counts as two operations.
  constexpr double fp32_peak() const { return peak_of(fp32_lanes); }
  constexpr double fp64_peak() const { return peak_of(fp64_lanes); }
  constexpr double fp64_tensor_peak() const { return peak_of(fp64_tensor_lanes); }
  constexpr double f16_tensor_peak() const { return peak_of(f16_tensor_lanes); }
  constexpr double bf16_tensor_peak() const { return peak_of(bf16_tensor_lanes); }
  constexpr double tf32_tensor_peak() const { return peak_of(tf32_tensor_lanes); }
  constexpr double f16x3_peak() const { return f16_tensor_peak() / 3; }  // three FP16 products each

 private:
  constexpr double peak_of(int lanes) const { return 2e-3 * lanes * sms * clock_ghz; }
};

}  // namespace tessera::arch
