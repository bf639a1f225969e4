// A CTA: its warps, shared memory and barriers. Used for all the CTAs that have its rank in the
// clusters of one worker thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "vgpu/exec/barrier.h"
#include "vgpu/exec/frame.h"
#include "vgpu/exec/sample.h"
#include "vgpu/exec/warp/warp.h"
#include "vgpu/memory/device_heap.h"
#include "vgpu/memory/global.h"
#include "vgpu/report/observation.h"

namespace tessera::vgpu {

struct EarlierLaunch;

// What all CTAs of a launch share.
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
  DeviceHeap* heap = nullptr;                    // of kernels that use it
  std::uint64_t grid_workspace = 0;              // address; of kernels that use it
  std::shared_ptr<const EarlierLaunch> earlier;  // may still run; null: nothing does
  // Where checks leave this launch for the next one; null: there is none.
  std::shared_ptr<const EarlierLaunch>* becomes_earlier = nullptr;
};

class Cluster;

constexpr std::uint32_t kWarpsOfAGroup = 4;  // of a warpgroup

class Cta {
 public:
  Cta(Cluster& cluster, std::uint32_t rank);
  Cta(const Cta&) = delete;
  Cta& operator=(const Cta&) = delete;

  // Makes it the CTA at this place of the grid.
  void start(const std::array<std::uint32_t, 3>& place);

  // ---- for its cluster --------------------------------------------------------------------------
  std::uint32_t warps() const { return static_cast<std::uint32_t>(warps_.size()); }
  Warp& warp(std::uint32_t index) { return warps_[index]; }
  const Warp* first_unfinished() const;
  // A line for each barrier that somebody waits at, and for each warp that waits.
  std::string describe_waits() const;
  void notice_uneven_register_moves();
  void notice_missing_registers();
  void notice_lonely_products();
  // Warp instructions since take_counts: all, those that store, those that load or are atomic.
  struct Executed {
    std::uint64_t all = 0, stores = 0, loads = 0;
  };
  Executed executed() const;
  // A hash of the positions of all its threads and of their registers.
  std::uint64_t state() const;
  // Of all CTAs since the last call, by instruction of the kernel.
  std::vector<InstructionCounter> take_counts();

  // ---- for its warps ----------------------------------------------------------------------------
  const Kernel& kernel() const { return *context_.kernel; }
  const GlobalMemory& memory() const { return *context_.memory; }
  Lanes& lanes() { return lanes_; }
  std::uint64_t index() const { return index_; }
  std::uint32_t rank() const { return rank_; }  // in its cluster
  Cluster& cluster() const { return cluster_; }
  Observer* observer() const { return lanes_.observer; }
  std::uint32_t threads() const { return threads_; }
  WarpPlace place_of(std::uint32_t warp) const;
  Barrier& barrier(std::uint32_t id) { return barriers_[id]; }
  // Opens the barrier if everybody is there.
  void check_barrier(std::uint32_t id);
  void warp_finished();
  // Warps of the warpgroup go past their wgmma where all that have not ended have come to it.
  void check_warpgroup(std::uint32_t group);
  void mbarrier_opens(std::uint32_t offset);

  InstructionCounter& block_counter(std::uint32_t i) { return block_counters_[i]; }
  InstructionCounter& instruction_counter(std::uint32_t i) { return instruction_counters_[i]; }

 private:
  Cluster& cluster_;
  const LaunchContext& context_;
  const std::uint32_t rank_;
  std::uint32_t threads_;
  std::array<std::uint32_t, 3> place_ = {};
  std::uint64_t index_ = 0;
  std::uint32_t live_warps_ = 0;
  Lanes lanes_;
  AlignedBytes shared_;
  std::array<Barrier, kBarriers> barriers_;
  std::vector<const MemoryBlock*> blocks_;  // Lanes::blocks
  std::vector<InstructionCounter> block_counters_, instruction_counters_;
  std::deque<Warp> warps_;
};

}  // namespace tessera::vgpu
