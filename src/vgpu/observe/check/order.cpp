// Order through memory: what one thread releases, another thread acquires, in this CTA or another.
// Atomics and ordered accesses create this order, alone or together with fences.
#include <algorithm>
#include <bit>

#include "vgpu/observe/check/cluster_checker.h"

namespace tessera::vgpu::check {
namespace {

bool releases(MemoryOrder order) {
  return order == MemoryOrder::kRelease || order == MemoryOrder::kAcquireRelease;
}
bool acquires(MemoryOrder order) {
  return order == MemoryOrder::kAcquire || order == MemoryOrder::kAcquireRelease;
}

std::uint64_t shared_cell(std::uint32_t owner, std::uint64_t offset) {
  return std::uint64_t{owner} << 32 | offset;
}

}  // namespace

void ClusterChecker::note_strong(const WarpAccess& access, WarpClocks& warp) {
  if (access.kind != AccessKind::kLoad) hand_over(access, warp);
  if (access.kind == AccessKind::kStore) return;
  const bool is_shared = access.window == Window::kShared;
  for (std::uint32_t left = access.by.mask; left != 0;) {
    const int lane = std::countr_zero(left);
    std::uint32_t same = 0;
    for (int l = 0; l < 32; ++l) {
      if (left >> l & 1 && access.address[l] == access.address[lane]) same |= 1u << l;
    }
    left &= ~same;
    const std::uint64_t cell =
        is_shared ? shared_cell(access.owner, access.address[lane]) : access.address[lane];
    strong_reads_[warp.self()].push_back({same, cell, is_shared, acquires(access.order)});
  }
}

// A release passes on all that its thread knows; another access, only what earlier fences have
// prepared.
void ClusterChecker::hand_over(const WarpAccess& access, WarpClocks& warp) {
  const bool is_shared = access.window == Window::kShared;
  SyncVariables& variables = is_shared ? shared_sync_ : launch_.sync;
  const bool replaces = access.kind == AccessKind::kStore;
  for (const LaneGroup& group : warp.groups()) {
    const std::uint32_t lanes = group.mask & access.by.mask;
    if (lanes == 0) continue;
    Handover what{group.clock.fenced, group.clock.fenced_for_cta, cta_index(first_, access.by.cta)};
    if (releases(access.order)) {
      what.to_cta = horizon_of(warp.released(lanes, now_));
      what.to_all = access.scope == MemoryScope::kCta ? group.clock.fenced : what.to_cta;
    }
    if (what.empty() && !replaces) continue;
    for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
      const std::uint64_t address = access.address[std::countr_zero(left)];
      variables.release(is_shared ? shared_cell(access.owner, address) : address, what, replaces);
    }
  }
  tick();
}

void ClusterChecker::resolve_strong_reads(WarpClocks& warp, std::vector<StrongRead>& reads) {
  const std::vector<StrongRead> all = std::move(reads);
  reads.clear();
  const std::uint64_t cta = cta_index(first_, warp.self() / warps_per_cta_);
  for (const StrongRead& read : all) {
    const SyncVariables& variables = read.is_shared ? shared_sync_ : launch_.sync;
    const SharedHorizon horizon = variables.acquire(read.cell, cta);
    if (!horizon) continue;
    warp.change(read.mask, [&](LaneGroup& group) {
      if (read.acquires) {
        import(group.clock, horizon);
      } else {
        join(group.pending, horizon);
      }
    });
    if (read.acquires) warp.refresh_floors(last_, tick());
  }
}

// Knowledge from relaxed reads takes effect at a fence.
// WHY at barriers, too: the well-known reduction in the last CTA (CUDA C++ Programming Guide,
// memory fence functions) has no fence after its atomic, only a barrier.
void ClusterChecker::absorb_pending(const Actor& by, WarpClocks& warp) {
  bool any = false;
  for (LaneGroup& group : warp.groups()) {
    if (!(group.mask & by.mask) || !group.pending) continue;
    import(group.clock, group.pending);
    group.pending = nullptr;
    any = true;
  }
  if (any) warp.refresh_floors(last_, tick());
}

void ClusterChecker::import(Clock& clock, const SharedHorizon& horizon) const {
  join(clock.others, horizon);
  const auto own = horizon->find(cluster_);
  if (own == horizon->end()) return;
  for (Entity e = 0; e < own->second.size(); ++e) {
    Time& seen = at(clock.seen, e);
    seen = std::max(seen, own->second[e] + start_);
  }
}

SharedHorizon ClusterChecker::horizon_of(const Clock& clock) const {
  auto horizon = std::make_shared<Horizon>();
  if (clock.others) *horizon = *clock.others;
  std::vector<Time>& own = (*horizon)[cluster_];
  for (const std::vector<Time>* times : {&clock.seen, &clock.stayed}) {
    for (Entity e = 0; e < times->size(); ++e) {
      if ((*times)[e] > start_) at(own, e) = std::max(at(own, e), (*times)[e] - start_);
    }
  }
  return horizon;
}

void ClusterChecker::fence_threads(const Actor& by, WarpClocks& warp, MemoryScope scope) {
  absorb_pending(by, warp);
  const SharedHorizon horizon = horizon_of(warp.released(by.mask, tick()));
  warp.change(by.mask, [&](LaneGroup& group) {
    join(group.clock.fenced_for_cta, horizon);
    if (scope != MemoryScope::kCta) join(group.clock.fenced, horizon);
  });
}

}  // namespace tessera::vgpu::check
