// With more thread blocks on an SM, the blocks hide more latency for each other. The rules are
// NVIDIA's: warps, blocks, registers and shared memory each set a limit, registers and shared
// memory are allocated in units, and the smallest limit holds.
#pragma once

#include <algorithm>
#include <string_view>

#include "arch/gpu.h"

namespace tessera::arch {

// Limits of an SM besides registers and shared memory, and the allocation unit of shared memory.
struct SmLimits {
  int warps = 0;            // resident on an SM
  int blocks = 0;           // resident on an SM
  int shared_unit = 0;      // bytes
  int shared_reserved = 0;  // bytes that the system takes of each block
};

// HW: limits of warps and blocks, and reserved bytes: CUDA C++ Programming Guide, technical
// specifications per compute capability. HW: allocation units of shared memory: cuda_occupancy.h of
// CUDA 13.0; 256 bytes below compute capability 8.0, and 128 bytes from 8.0 on.
constexpr SmLimits sm_limits(int sm) {
  switch (sm) {
    case 70:
      return {64, 32, 256, 0};
    case 75:
      return {32, 16, 256, 0};
    case 80:
      return {64, 32, 128, 1024};
    case 86:
      return {48, 16, 128, 1024};
    case 89:
      return {48, 24, 128, 1024};
    default:  // 90
      return {64, 32, 128, 1024};
  }
}

// HW: these constants hold for all compute capabilities from 7.0 to 9.0 (cuda_occupancy.h of CUDA
// 13.0).
inline constexpr int kWarpThreads = 32;
inline constexpr int kRegisterUnit = 256;  // a warp's registers are a multiple of this number
inline constexpr int kSubPartitions = 4;   // per SM; each has a quarter of the registers
inline constexpr int kMaxRegisters = 255;  // per thread
inline constexpr int kMaxThreads = 1024;   // per block

enum class OccupancyLimit { kWarps, kBlocks, kRegisters, kShared };

// The name of a limit, for messages: "registers", "warps of an SM".
constexpr std::string_view name_of(OccupancyLimit limit) {
  switch (limit) {
    case OccupancyLimit::kWarps:
      return "warps of an SM";
    case OccupancyLimit::kBlocks:
      return "blocks of an SM";
    case OccupancyLimit::kRegisters:
      return "registers";
    default:
      return "shared memory";
  }
}

struct BlockNeeds {
  int threads = 0;
  int registers = 0;     // per thread, as ptxas reports them
  int shared_bytes = 0;  // static and dynamic
};

struct Occupancy {
  int blocks = 0;     // CTAs of the kernel on one SM; 0: the kernel cannot run on this GPU
  int warps = 0;      // warps in these blocks
  int max_warps = 0;  // the limit of the SM
  OccupancyLimit limit = OccupancyLimit::kWarps;  // the limit that is reached first

  constexpr double share() const { return static_cast<double>(warps) / max_warps; }
};

namespace detail {

constexpr int round_up(int x, int unit) { return (x + unit - 1) / unit * unit; }

constexpr int blocks_by_registers(const Gpu& gpu, const BlockNeeds& needs, int warps) {
  if (needs.registers == 0) return sm_limits(gpu.sm).blocks;
  if (needs.registers > kMaxRegisters) return 0;
  const int of_warp = round_up(needs.registers * kWarpThreads, kRegisterUnit);
  // HW: the registers must suffice for the block's warps, rounded up to a multiple of 4.
  if (of_warp * round_up(warps, kSubPartitions) > gpu.registers) return 0;
  return gpu.registers / kSubPartitions / of_warp * kSubPartitions / warps;
}

constexpr int blocks_by_shared(const Gpu& gpu, const BlockNeeds& needs) {
  const SmLimits limits = sm_limits(gpu.sm);
  if (needs.shared_bytes > gpu.shared_block_kib * 1024) return 0;
  const int bytes = round_up(needs.shared_bytes + limits.shared_reserved, limits.shared_unit);
  return bytes == 0 ? limits.blocks : gpu.shared_kib * 1024 / bytes;
}

}  // namespace detail

// The number of blocks of a kernel that fit on an SM, if the SM uses as much of its L1 as possible
// for shared memory.
constexpr Occupancy occupancy(const Gpu& gpu, const BlockNeeds& needs) {
  const SmLimits limits = sm_limits(gpu.sm);
  Occupancy result;
  result.max_warps = limits.warps;
  if (needs.threads < 1 || needs.threads > kMaxThreads) return result;
  const int warps = (needs.threads + kWarpThreads - 1) / kWarpThreads;
  result.blocks = limits.warps / warps;
  const auto cap = [&](int blocks, OccupancyLimit limit) {
    if (blocks < result.blocks) result.limit = limit;
    result.blocks = std::min(result.blocks, blocks);
  };
  cap(limits.blocks, OccupancyLimit::kBlocks);
  cap(detail::blocks_by_registers(gpu, needs, warps), OccupancyLimit::kRegisters);
  cap(detail::blocks_by_shared(gpu, needs), OccupancyLimit::kShared);
  result.warps = result.blocks * warps;
  return result;
}

}  // namespace tessera::arch
