// A CTA: its warps, shared memory and barriers. A worker thread uses the object for all CTAs that
// have this rank in the clusters that it runs.
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

  // Makes this object the CTA at this position of the grid.
  void start(const std::array<std::uint32_t, 3>& place);

  // ---- for the CTA's cluster --------------------------------------------------------------------
  Warp& warp(std::uint32_t index) override { return warps_[index]; }
  const Warp* first_unfinished() const;
  // Returns a line for each barrier at which threads wait, and for each warp.
  std::string describe_waits() const;
  void notice_uneven_register_moves();
  void notice_missing_registers();
  void notice_lonely_products();
  // Warp instructions since take_counts(): all, stores, and loads or atomics.
  struct Executed {
    std::uint64_t all = 0, stores = 0, loads = 0;
  };
  Executed executed() const;
  // A hash of the positions and registers of all threads.
  std::uint64_t state() const;
  // Returns the counts since the last call, by index of the instruction in the kernel.
  std::vector<InstructionCounter> take_counts();

  // ---- for the CTA's warps ----------------------------------------------------------------------
  Cluster& cluster() const { return cluster_; }
  std::uint32_t threads() const { return threads_; }
  WarpPlace place_of(std::uint32_t warp) const;
  Barrier& barrier(std::uint32_t id) { return barriers_[id]; }
  // Opens the barrier if all threads have arrived.
  void check_barrier(std::uint32_t id);
  void warp_finished();
  // Lets warps of the group pass a wgmma that all its warps have reached, or have exited before.
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
