#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "vgpu/program/program.h"
#include "vgpu/report/observation.h"

namespace tessera::vgpu {

class ClusterSample;
class DeviceHeap;
class GlobalMemory;
struct EarlierLaunch;

// The state that all CTAs of a launch share.
struct LaunchContext {
  const Kernel* kernel = nullptr;
  const GlobalMemory* memory = nullptr;
  std::uint32_t grid[3] = {}, block[3] = {};
  std::uint32_t cluster[3] = {1, 1, 1};
  bool explicit_cluster = false;   // the launch or the kernel named its shape
  std::uint32_t shared_bytes = 0;  // static and dynamic
  std::uint32_t dynamic_shared_bytes = 0;
  std::span<const std::byte> params;
  Observation observation;
  const ClusterSample* sample = nullptr;         // the clusters that run
  std::atomic<std::uint64_t>* spent = nullptr;   // warp instructions of all clusters so far
  DeviceHeap* heap = nullptr;                    // null unless the kernel uses it
  std::uint64_t grid_workspace = 0;              // address; of kernels that use it
  std::shared_ptr<const EarlierLaunch> earlier;  // may still run; null: none does
  // Receives this launch, as the earlier launch of the next one; null if there is no next launch.
  std::shared_ptr<const EarlierLaunch>* becomes_earlier = nullptr;
};

}  // namespace tessera::vgpu
