// Costs on a GPU: how long an instruction holds its unit, how long a value takes to arrive, how
// many bytes the memory beyond the SM delivers. These costs describe the GPU, not a kernel. The
// prediction of a kernel's time uses no other constants.
#pragma once

#include <array>
#include <string_view>

#include "arch/gpu.h"

namespace tessera::arch {

// Times are in SM clock cycles where no unit is given. The values are an H200's. A source such as
// (ffma_8) names a row of results/calibration/h200_calibration.json.
struct Costs {
  // HW: the cycles for which an instruction of a warp occupies its unit in one of the SM's four
  // sub-partitions (rows "pipes").
  double fma = 1;      // FFMA, FADD, FMUL (ffma_8)
  double imad = 2;     // IMAD (imad_8), on the same unit as FFMA (ffma_imad)
  double alu = 2;      // IADD3, LOP3, SHF, ISETP, ... (shift_8, add_xor_64_8)
  double fp64 = 2;     // DFMA (dfma_8)
  double tensor = 16;  // DMMA 8x8x4 (dmma_4); 16x8x4 takes as long (dmma_16x8x4)
  double uniform = 1;  // not measured
  double control = 1;  // not measured
  // HW: latency of a shared-memory load after its last wavefront. Each step of the pointer chases
  // (rows "shared_memory", shared_chase_*) has an integer addition; its 4 cycles are subtracted.
  double shared_latency = 24;
  double l1_latency = 33;     // HW: latency global_chase, minus its two additions per load
  double store_release = 18;  // until a store's registers are free: Huerta et al., MICRO 2025
  // Average latency of a load that misses L1 while all SMs load. tools/calibrate/fit_model fitted
  // the value to the ladder's kernels at sizes 1024 and 2048. A single load takes 278 from L2 and
  // 620 from device memory (HW: latency l2_chase of 16 MiB and of 1 GiB).
  double miss_latency = 600;
  // HW: cycles between two warp loads of one SM that miss L1, for 32, 64 and 128 bits per lane
  // (rows "global_memory", l2_load_*).
  std::array<double, 3> missed_request = {2.6, 5.0, 7.5};
  double l2_sectors = 2;  // HW: the same rows: sectors from L2 to one SM per cycle
  // The costs of atomics from here to hot_float_ns are for the fastest form of each instruction.
  // "H100" marks values measured on an H100, which has the same SM as an H200
  // (results/calibration/h100_atomics.json). shared_atomic: HW (benchmark shared_memory, case
  // shared_atomic_add): cycles per lane when all lanes update one address in shared memory.
  double shared_atomic = 1;
  // HW, H100 (case shared_red_add_f32): cycles per lane when all lanes add an f32 to one address in
  // shared memory. Such an addition is a compare-and-swap loop.
  double shared_swap_32 = 11.8;
  // HW, H100 (cases shared_red_add_u64 and shared_red_add_f64): cycles per lane when all lanes add
  // a 64-bit number to one address in shared memory.
  double shared_swap_64 = 13.2;
  // HW (benchmark global_memory, case global_atomic_add, all SMs busy): cycles of an SM per sector
  // that an atomic updates; if several lanes update one address, cycles per lane. With all 32 lanes
  // at one address, 2.4 per lane was measured.
  double l2_atomic = 2.05;
  // HW, H100 (rows "the grid, all warps alike", stride 1): nanoseconds between two atomic updates
  // of one sector, if all warps of the grid update the same addresses.
  double hot_sector_ns = 0.57;
  // HW, H100 (global_histogram_u32 with 4 bins): if lanes of a request share addresses, the
  // nanoseconds per lane at the address that the most lanes update.
  double hot_lanes_integer_ns = 0.64;
  // HW, H100 (global_histogram_f32 with 4 bins): like hot_lanes_integer_ns, for floats.
  double hot_lanes_float_ns = 1.5;
  // HW, H100 (rows "the grid, all warps alike", 32 lanes per address): nanoseconds between two
  // atomic updates of one integer.
  double hot_integer_ns = 0.72;
  // HW, H100 (rows as for hot_integer_ns): nanoseconds between two atomic updates of one float.
  double hot_float_ns = 1.74;
  double barrier = 12;         // HW: control barrier: cycles per barrier
  double barrier_arrival = 2;  // HW: the same rows: additional cycles per warp that arrives
  double branch = 6;           // a taken branch: not measured
  double memory_queue = 64;    // wavefronts that an SM queues before it stalls: not measured
  double scoreboard = 10;      // variable-latency results that are not from memory: not measured
  double cta_lag = 97;         // between the first instructions of two CTAs on one SM: not measured
  double cta_start = 161;      // HW: control nothing: between the starts of two CTAs on one SM
  double wave_us = 4;          // microseconds to fill and drain a wave of CTAs. Fitted by fit_model
  double launch_us = 3.7;      // HW: control nothing: one launch, between two events
  double next_launch_us = 2.5;  // HW: control nothing: per launch in a row of 1000
  double l2_gbs = 8800;         // HW: streams stream_read of 16 to 48 MiB
  double copy_gbs = 3960;       // HW: streams stream_copy of 2 GiB, read and written together
  double dram_gbs = 4540;       // HW: streams stream_read of 2 GiB

  bool is_measured = true;  // on this GPU; else rates from data sheets, with an H200's latencies
  // Relative errors of predicted times at sizes 1024 and 2048
  // (results/calibration/h200_model_fit.json).
  double median_error = 0, largest_error = 0;
};

inline constexpr std::string_view kCostsMeasuredOn = "h200";

// Returns the costs of a GPU. For a GPU that was not measured, the rates follow from its lanes,
// clock and memory; everything else is copied from the H200, and is_measured is false.
constexpr Costs costs_of(const Gpu& gpu) {
  Costs costs;
  costs.median_error = 0.019;
  costs.largest_error = 0.137;
  if (std::string_view(gpu.name) == kCostsMeasuredOn) return costs;
  costs.is_measured = false;
  costs.median_error = costs.largest_error = 0;
  costs.fma = 128.0 / gpu.fp32_lanes;
  costs.fp64 = 128.0 / gpu.fp64_lanes;
  // One DMMA 8x8x4 does 256 multiply-adds.
  costs.tensor = gpu.fp64_tensor_lanes == 0 ? 0 : 1024.0 / gpu.fp64_tensor_lanes;
  const double ratio = gpu.memory_gbs / 4800;  // to an H200's data sheet
  costs.dram_gbs *= ratio;
  costs.copy_gbs *= ratio;
  // The assumed rate is the rate that device memory delivers. A rate from a data sheet is never
  // fully reached.
  if (gpu.assumed_copy > 0) costs.dram_gbs = costs.copy_gbs = gpu.assumed_copy;
  // HW: on an H200 with all SMs loading, L2 delivers about 34 bytes per clock to each SM.
  costs.l2_gbs = 34.0 * gpu.sms * gpu.clock_ghz;
  return costs;
}

}  // namespace tessera::arch
