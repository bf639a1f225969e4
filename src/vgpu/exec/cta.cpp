// The state that the warps of a CTA share.
#include "vgpu/exec/cta.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "vgpu/exec/cluster.h"

namespace tessera::vgpu {
namespace {

const MemoryBlock kNoBlock;

}  // namespace

Cta::Cta(Cluster& cluster, std::uint32_t rank)
    : AsyncCta(cluster, rank),
      cluster_(cluster),
      context_(cluster.context()),
      threads_(context_.block[0] * context_.block[1] * context_.block[2]),
      shared_(allocate_aligned(context_.shared_bytes)),
      blocks_(context_.kernel->instructions.size(), &kNoBlock),
      block_counters_(context_.kernel->block_count),
      instruction_counters_(context_.kernel->instructions.size()) {
  lanes_.shared = shared_.get();
  lanes_.shared_bytes = context_.shared_bytes;
  lanes_.shared_first = kSharedBase | rank << kRankShift;
  lanes_.cluster = &cluster.memory();
  lanes_.params = context_.params.data();
  lanes_.param_bytes = static_cast<std::uint32_t>(context_.params.size());
  lanes_.blocks = blocks_.data();
  lanes_.counters = instruction_counters_.data();
  lanes_.observer = cluster.observer();
  lanes_.fills_outside = context_.observation.undefined.fills_shuffles;
  lanes_.outside = context_.observation.undefined.shuffles;
  for (std::uint32_t w = 0; w * kLanes < threads_; ++w) warps_.emplace_back(*this, w);
}

void Cta::start(const std::array<std::uint32_t, 3>& place) {
  place_ = place;
  index_ = place[0] + std::uint64_t{context_.grid[0]} *
                          (place[1] + std::uint64_t{context_.grid[1]} * place[2]);
  std::memset(shared_.get(), context_.observation.undefined.shared, context_.shared_bytes);
  barriers_.fill({});
  live_warps_ = static_cast<std::uint32_t>(warps_.size());
}

WarpPlace Cta::place_of(std::uint32_t warp) const {
  WarpPlace place;
  for (int d = 0; d < 3; ++d) {
    place.block[d] = context_.block[d];
    place.grid[d] = context_.grid[d];
    place.cta[d] = place_[d];
    place.cluster[d] = context_.cluster[d];
  }
  place.rank = rank_;
  place.explicit_cluster = context_.explicit_cluster;
  place.warp = warp;
  place.warps = static_cast<std::uint32_t>(warps_.size());
  place.shared_bytes = context_.shared_bytes;
  place.dynamic_shared_bytes = context_.dynamic_shared_bytes;
  place.grid_workspace = context_.grid_workspace;
  place.undefined = context_.observation.undefined.registers;
  return place;
}

void Cta::check_barrier(std::uint32_t id) {
  Barrier& barrier = barriers_[id];
  if (!barrier.is_complete(live_warps_)) return;
  const std::uint32_t result = barrier.result();
  barrier = {};
  for (Warp& warp : warps_) warp.release(id, result);
}

// A warp has exited: barriers that waited for it may open now.
void Cta::warp_finished() {
  --live_warps_;
  for (std::uint32_t id = 0; id < kBarriers; ++id) check_barrier(id);
  for (std::uint32_t w = 0; w < warps(); w += kWarpsOfAGroup) check_warpgroup(w / kWarpsOfAGroup);
  if (live_warps_ != 0) return;
  if (observer()) {
    notice_uneven_register_moves();
    notice_missing_registers();
    notice_lonely_products();
  }
  cluster_.cta_finished(rank_);
}

void Cta::check_warpgroup(std::uint32_t group) {
  const std::uint32_t first = group * kWarpsOfAGroup;
  const std::uint32_t last = std::min(first + kWarpsOfAGroup, warps());
  std::uint64_t least = ~std::uint64_t{0};
  for (std::uint32_t w = first; w < last; ++w) {
    if (!warps_[w].finished()) least = std::min(least, warps_[w].products());
  }
  for (std::uint32_t w = first; w < last; ++w) warps_[w].release_from_warpgroup(least);
}

void Cta::mbarrier_opens(std::uint32_t offset) {
  for (Warp& warp : warps_) warp.mbarrier_opens(offset);
}

const Warp* Cta::first_unfinished() const {
  const auto found =
      std::find_if(warps_.begin(), warps_.end(), [](const Warp& warp) { return !warp.finished(); });
  return found == warps_.end() ? nullptr : &*found;
}

std::string Cta::describe_waits() const {
  std::string text;
  const std::string of = cluster_.size() == 1 ? "" : fmt::format(" of CTA {}", index_);
  for (std::uint32_t id = 0; id < kBarriers; ++id) {
    const Barrier& barrier = barriers_[id];
    if (barrier.arrived == 0) continue;
    const std::uint32_t expected =
        barrier.expected != 0 ? barrier.expected : live_warps_ * static_cast<std::uint32_t>(kLanes);
    text += fmt::format("\n  barrier {}{}: {} of {} threads are there", id, of, barrier.arrived,
                        expected);
  }
  text += cluster_.mbarriers().describe(rank_);
  for (const Warp& warp : warps_) text += warp.describe_waits();
  return text;
}

Cta::Executed Cta::executed() const {
  Executed executed;
  const auto add = [&](const InstructionInfo& info, std::uint64_t count) {
    executed.all += count;
    if (info.touches == Touches::kStores) executed.stores += count;
    if (info.touches == Touches::kLoads) executed.loads += count;
  };
  for (std::size_t i = 0; i < instruction_counters_.size(); ++i) {
    const InstructionInfo& info = kernel().instructions[i];
    if (!info.counted_with_block) add(info, instruction_counters_[i].warp);
  }
  for (const Function& function : kernel().functions) {
    for (const BasicBlock& block : function.blocks) {
      const std::uint64_t entered = block_counters_[block.counter].warp;
      if (entered == 0) continue;
      for (std::uint32_t i = block.first_instruction; i < block.last_instruction; ++i) {
        const InstructionInfo& info = kernel().instructions[i];
        if (info.counted_with_block) add(info, entered);
      }
    }
  }
  return executed;
}

std::uint64_t Cta::state() const {
  std::uint64_t state = 0;
  for (const Warp& warp : warps_) state = warp.state(state);
  for (const Barrier& barrier : barriers_) state = state * 31 + barrier.arrived;
  return state;
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
