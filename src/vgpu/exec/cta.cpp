// A warp runs to its next barrier before another starts: wherever a barrier is missing, a warp sees
// memory as no lockstep would ever show it, and the result is wrong every time.
#include "vgpu/exec/cta.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace tessera::vgpu {
namespace {

const MemoryBlock kNoBlock;

}  // namespace

Cta::Cta(const LaunchContext& context, Observer* observer)
    : context_(context),
      threads_(context.block[0] * context.block[1] * context.block[2]),
      shared_(allocate_aligned(context.shared_bytes)),
      blocks_(context.kernel->instructions.size(), &kNoBlock),
      block_counters_(context.kernel->block_count),
      instruction_counters_(context.kernel->instructions.size()) {
  lanes_.shared = shared_.get();
  lanes_.shared_bytes = context.shared_bytes;
  lanes_.params = context.params.data();
  lanes_.param_bytes = static_cast<std::uint32_t>(context.params.size());
  lanes_.blocks = blocks_.data();
  lanes_.counters = instruction_counters_.data();
  lanes_.observer = observer;
  for (std::uint32_t w = 0; w * kLanes < threads_; ++w) warps_.emplace_back(*this, w);
}

WarpPlace Cta::place_of(std::uint32_t warp) const {
  WarpPlace place;
  std::uint64_t rest = index_;
  for (int d = 0; d < 3; ++d) {
    place.block[d] = context_.block[d];
    place.grid[d] = context_.grid[d];
    place.cta[d] = static_cast<std::uint32_t>(rest % context_.grid[d]);
    rest /= context_.grid[d];
  }
  place.warp = warp;
  place.warps = static_cast<std::uint32_t>(warps_.size());
  place.shared_bytes = context_.shared_bytes;
  place.dynamic_shared_bytes = context_.dynamic_shared_bytes;
  return place;
}

void Cta::run(std::uint64_t index) {
  index_ = index;
  std::memset(shared_.get(), 0xff, context_.shared_bytes);
  barriers_.fill({});
  live_warps_ = static_cast<std::uint32_t>(warps_.size());
  if (observer()) observer()->cluster_begins(index, 1);
  for (Warp& warp : warps_) warp.start();
  while (live_warps_ != 0) {
    bool progress = false;
    for (Warp& warp : warps_) {
      if (!warp.can_run()) continue;
      warp.run();
      progress = true;
    }
    if (!progress) fault_deadlock();
  }
  if (observer()) observer()->cluster_ends();
}

void Cta::check_barrier(std::uint32_t id) {
  Barrier& barrier = barriers_[id];
  if (!barrier.is_complete(live_warps_)) return;
  const std::uint32_t result = barrier.result();
  barrier = {};
  for (Warp& warp : warps_) warp.release(id, result);
}

// Barriers that wait for whoever is left may open now.
void Cta::warp_finished() {
  --live_warps_;
  for (std::uint32_t id = 0; id < kBarriers; ++id) check_barrier(id);
}

void Cta::fault_deadlock() const {
  std::string text = "deadlock: every warp waits";
  for (std::uint32_t id = 0; id < kBarriers; ++id) {
    const Barrier& barrier = barriers_[id];
    if (barrier.arrived == 0) continue;
    const std::uint32_t expected =
        barrier.expected != 0 ? barrier.expected : live_warps_ * static_cast<std::uint32_t>(kLanes);
    text +=
        fmt::format("\n  barrier {}: {} of {} threads are there", id, barrier.arrived, expected);
  }
  const Warp* first = nullptr;
  for (const Warp& warp : warps_) {
    if (warp.finished()) continue;
    if (!first) first = &warp;
    text += warp.describe_waits();
  }
  first->fault_at_wait(FaultKind::kDeadlock, text);
}

std::vector<InstructionCounter> Cta::take_counts() {
  std::vector<InstructionCounter> counts = instruction_counters_;
  for (const Function& function : kernel().functions) {
    for (const BasicBlock& block : function.blocks) {
      const InstructionCounter& entered = block_counters_[block.counter];
      for (std::uint32_t i = block.first_instruction; i < block.last_instruction; ++i) {
        if (!kernel().instructions[i].counted_with_block) continue;
        counts[i].warp += entered.warp;
        counts[i].thread += entered.thread;
      }
    }
  }
  std::fill(instruction_counters_.begin(), instruction_counters_.end(), InstructionCounter{});
  std::fill(block_counters_.begin(), block_counters_.end(), InstructionCounter{});
  return counts;
}

}  // namespace tessera::vgpu
