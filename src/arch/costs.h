// Costs on a GPU: how long an instruction holds its unit, how long a value takes to arrive, how
// many bytes the memory beyond the SM delivers. They belong to the GPU, never to a kernel, and the
// prediction of a kernel's time uses no others.
#pragma once

#include <array>
#include <string_view>

#include "arch/gpu.h"

namespace tessera::arch {

// In SM clock cycles unless said otherwise. The values are an H200's.
struct Costs {
  // HW: rows of results/calibration/h200_calibration.json are named by their entries: pipes ffma_8,
  // imad_8, shift_8 and add_xor_64_8, dfma_8, dmma_4. A warp instruction holds one of the SM's four
  // parts:
  double fma = 1;      // FFMA, FADD, FMUL (ffma_8)
  double imad = 2;     // IMAD (imad_8), on the same unit as FFMA (ffma_imad)
  double alu = 2;      // IADD3, LOP3, SHF, ISETP, ... (shift_8, add_xor_64_8)
  double fp64 = 2;     // DFMA (dfma_8)
  double tensor = 16;  // DMMA 8x8x4 (dmma_4); 16x8x4 takes as long (dmma_16x8x4)
  double uniform = 1;  // not measured
  double control = 1;  // not measured
  // HW: shared_memory shared_chase_*, without the addition of 4 cycles in each step.
  double shared_latency = 24;  // after the last wavefront (shared_chase_*, without an addition)
  double l1_latency = 33;      // HW: latency global_chase, without its two additions
  double store_release = 18;   // until a store's registers are free: Huerta et al., MICRO 2025
  // What a load that misses L1 waits for, on average, while all SMs load. Fitted:
  // tools/calibrate/fit_model, on the rungs at 1024 and 2048. Alone it waits 278 for L2 and 620 for
  // device memory (HW: latency l2_chase of 16 MiB and of 1 GiB).
  double miss_latency = 600;
  // From one request that misses L1 to the next, by 32, 64 and 128 bits a lane. HW: global_memory
  // l2_load_*, one SM.
  std::array<double, 3> missed_request = {2.6, 5.0, 7.5};
  double l2_sectors = 2;  // HW: the same rows: sectors from L2 to one SM a cycle
  // Atomics, each at its quickest. Those of an H100 are in results/calibration/h100_atomics.json;
  // its SM is an H200's.
  // HW: shared_memory shared_atomic_add: clocks of each lane at one address.
  double shared_atomic = 1;
  // HW: of an H100, shared_red_add_f32: the same of f32, whose sums are loops of compare-and-swap.
  double shared_swap_32 = 11.8;
  // HW: of an H100, shared_red_add_u64 and _f64: the same of sums of 64 bits.
  double shared_swap_64 = 13.2;
  // HW: global_memory global_atomic_add, all SMs at work: from one sector that an SM updates to the
  // next, or from one lane at an address to the next; 2.4 where all 32 share one.
  double l2_atomic = 2.05;
  // HW: of an H100, "the grid, all warps alike", stride 1: nanoseconds from one update of a sector
  // to the next.
  double hot_sector_ns = 0.57;
  // HW: of an H100, global_histogram_u32 of 4 bins: the same where lanes of a request share an
  // address: for each lane at the address that most of them want.
  double hot_lanes_integer_ns = 0.64;
  // HW: global_histogram_f32 of 4 bins: the same of floats.
  double hot_lanes_float_ns = 1.5;
  // HW: the grid, 32 lanes an address: from one update of an integer to the next.
  double hot_integer_ns = 0.72;
  // HW: the same of a float.
  double hot_float_ns = 1.74;
  double barrier = 12;         // HW: control barrier: of one
  double barrier_arrival = 2;  // HW: the same rows: and for each warp
  double branch = 6;           // a taken branch: not measured
  double memory_queue = 64;    // wavefronts that wait before an SM takes no more: not measured
  double scoreboard = 10;  // a value without a fixed latency that is not from memory: not measured
  double cta_lag = 97;     // between the first instructions of CTAs of one SM: not measured
  double cta_start = 161;  // HW: control nothing: from one CTA's start on an SM to the next
  double wave_us = 4;      // microseconds to fill and drain a wave of CTAs. Fitted likewise
  double launch_us = 3.7;  // HW: control nothing: one launch between two events
  double next_launch_us = 2.5;  // HW: control nothing: each of 1000 launches in a row
  double l2_gbs = 8800;         // HW: streams stream_read of 16 to 48 MiB
  double copy_gbs = 3960;       // HW: streams stream_copy of 2 GiB, read and written together
  double dram_gbs = 4540;       // HW: streams stream_read of 2 GiB

  bool is_measured = true;  // on this GPU; else rates from data sheets, with an H200's latencies
  // Of the prediction, over the rungs at 1024 and 2048 (results/calibration/h200_model_fit.json).
  double median_error = 0, largest_error = 0;
};

inline constexpr std::string_view kCostsMeasuredOn = "h200";

// Rates of another GPU follow from its lanes, its clock and its memory. Everything else is an
// H200's, and is_measured is false.
constexpr Costs costs_of(const Gpu& gpu) {
  Costs costs;
  costs.median_error = 0.019;
  costs.largest_error = 0.137;
  if (std::string_view(gpu.name) == kCostsMeasuredOn) return costs;
  costs.is_measured = false;
  costs.median_error = costs.largest_error = 0;
  costs.fma = 128.0 / gpu.fp32_lanes;
  costs.fp64 = 128.0 / gpu.fp64_lanes;
  // A DMMA 8x8x4 is 256 multiply-adds.
  costs.tensor = gpu.fp64_tensor_lanes == 0 ? 0 : 1024.0 / gpu.fp64_tensor_lanes;
  const double ratio = gpu.memory_gbs / 4800;  // to an H200's data sheet
  costs.dram_gbs *= ratio;
  costs.copy_gbs *= ratio;
  // What somebody assumes is what memory delivers: no data sheet, of which a part is reached.
  if (gpu.assumed_copy > 0) costs.dram_gbs = costs.copy_gbs = gpu.assumed_copy;
  // HW: about 34 bytes a clock and SM reach all SMs of an H200 together.
  costs.l2_gbs = 34.0 * gpu.sms * gpu.clock_ghz;
  return costs;
}

}  // namespace tessera::arch
