// A CTA: its warps, shared memory and barriers. Used for all the CTAs that have its rank in the
// clusters of one worker thread.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "vgpu/exec/barrier.h"
#include "vgpu/exec/frame.h"
#include "vgpu/exec/sample.h"
#include "vgpu/exec/warp/warp.h"
#include "vgpu/memory/device_heap.h"
#include "vgpu/memory/global.h"

namespace tessera::vgpu {

class Cluster;

class Cta final : public AsyncCta {
 public:
  Cta(Cluster& cluster, std::uint32_t rank);

  // Makes it the CTA at this place of the grid.
  void start(const std::array<std::uint32_t, 3>& place);

  // ---- for its cluster --------------------------------------------------------------------------
  Warp& warp(std::uint32_t index) override { return warps_[index]; }
  const Warp* first_unfinished() const;
  // A line for each barrier with waiting threads, and for each warp that waits.
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
  // Counts of all CTAs since the last call, by instruction of the kernel.
  std::vector<InstructionCounter> take_counts();

  // ---- for its warps ----------------------------------------------------------------------------
  Cluster& cluster() const { return cluster_; }
  std::uint32_t threads() const { return threads_; }
  WarpPlace place_of(std::uint32_t warp) const;
  Barrier& barrier(std::uint32_t id) { return barriers_[id]; }
  // Opens the barrier if all threads have arrived.
  void check_barrier(std::uint32_t id);
  void warp_finished();
  // Warps of the warpgroup pass their wgmma when all warps that have not ended have reached it.
  void check_warpgroup(std::uint32_t group);
  void mbarrier_opens(std::uint32_t offset) override;

  InstructionCounter& block_counter(std::uint32_t i) { return block_counters_[i]; }
  InstructionCounter& instruction_counter(std::uint32_t i) { return instruction_counters_[i]; }

 private:
  Cluster& cluster_;
  const LaunchContext& context_;
  std::uint32_t threads_;
  std::array<std::uint32_t, 3> place_ = {};
  std::uint32_t live_warps_ = 0;
  AlignedBytes shared_;
  std::array<Barrier, kBarriers> barriers_;
  std::vector<const MemoryBlock*> blocks_;  // Lanes::blocks
  std::vector<InstructionCounter> block_counters_, instruction_counters_;
  std::deque<Warp> warps_;
};

}  // namespace tessera::vgpu
