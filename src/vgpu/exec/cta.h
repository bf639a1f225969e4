// One CTA at a time: its warps, shared memory and barriers. A worker thread owns one Cta and uses
// it for all the CTAs that it runs.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "vgpu/exec/barrier.h"
#include "vgpu/exec/frame.h"
#include "vgpu/exec/warp.h"
#include "vgpu/memory/global.h"
#include "vgpu/observe/observation.h"
#include "vgpu/observe/sample.h"

namespace tessera::vgpu {

// What all CTAs of a launch share.
struct LaunchContext {
  const Kernel* kernel = nullptr;
  const GlobalMemory* memory = nullptr;
  std::uint32_t grid[3] = {}, block[3] = {};
  std::uint32_t shared_bytes = 0;  // static and dynamic
  std::uint32_t dynamic_shared_bytes = 0;
  std::span<const std::byte> params;
  Observation observation;
  const ClusterSample* sample = nullptr;  // the clusters that run
};

class Cta {
 public:
  // The observer may be null.
  Cta(const LaunchContext& context, Observer* observer);
  Cta(const Cta&) = delete;
  Cta& operator=(const Cta&) = delete;

  // Runs the CTA with this linear index to its end. Throws Fault.
  void run(std::uint64_t index);

  // ---- for its warps --------------------------------------------------------------------------
  const Kernel& kernel() const { return *context_.kernel; }
  const GlobalMemory& memory() const { return *context_.memory; }
  Lanes& lanes() { return lanes_; }
  std::uint64_t index() const { return index_; }
  std::uint32_t rank() const { return 0; }  // in its cluster
  Observer* observer() const { return lanes_.observer; }
  std::uint32_t threads() const { return threads_; }
  WarpPlace place_of(std::uint32_t warp) const;
  Barrier& barrier(std::uint32_t id) { return barriers_[id]; }
  // Opens the barrier if everybody is there.
  void check_barrier(std::uint32_t id);
  void warp_finished();

  InstructionCounter& block_counter(std::uint32_t i) { return block_counters_[i]; }
  InstructionCounter& instruction_counter(std::uint32_t i) { return instruction_counters_[i]; }
  // Of all CTAs since the last call, by instruction of the kernel.
  std::vector<InstructionCounter> take_counts();

 private:
  [[noreturn]] void fault_deadlock() const;

  const LaunchContext& context_;
  std::uint32_t threads_;
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
