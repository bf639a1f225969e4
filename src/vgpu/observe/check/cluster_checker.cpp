// The checks of a cluster's run: its begin and end, and the entry points for accesses.
#include "vgpu/observe/check/cluster_checker.h"

#include <algorithm>
#include <bit>

namespace tessera::vgpu::check {
namespace {

// If a cluster begins after this time, times restart at 1, with empty shadows: they never overflow.
constexpr Time kLastStart = 1u << 30;

std::uint32_t lanes_of(std::uint32_t threads, std::uint32_t warp) {
  const std::uint32_t lanes = std::min(32u, threads - warp * 32);
  return lanes == 32 ? ~std::uint32_t{0} : (1u << lanes) - 1;
}

}  // namespace

ClusterChecker::ClusterChecker(LaunchChecks& launch)
    : launch_(launch),
      log_(*launch.context.kernel),
      paths_(*launch.context.kernel),
      updates_(*launch.context.kernel, launch.context.observation.updates),
      array_bounds_(array_bounds(*launch.context.kernel, launch.context.observation.arrays)),
      blocks_(launch.context.kernel->instructions.size()) {
  const std::uint32_t* block = launch.context.block;
  warps_per_cta_ = (block[0] * block[1] * block[2] + 31) / 32;
  for (const InstructionInfo& info : launch.context.kernel->instructions) {
    const bool is_load = info.form.starts_with("ld.") && info.form.find(".nc") != info.form.npos;
    reads_only_.push_back(is_load || info.form.starts_with("tex."));
  }
}

void ClusterChecker::cluster_begins(std::uint64_t first, std::uint32_t ctas) {
  first_ = first;
  cluster_ = first & GlobalCell::kClusterMask;
  ctas_ = ctas;
  mbarriers_.for_each([&](MbarrierPlace place, Mbarrier&) {
    SharedShadow& shadow = shared_[place.owner];
    const std::uint32_t end = shadow.end_of(place.offset, kMbarrierBytes);
    for (std::uint32_t cell = shadow.cell_of(place.offset); cell < end; ++cell) shadow.allow(cell);
  });
  mbarriers_.begin();
  while (shared_.size() < ctas) {
    shared_.emplace_back(launch_.context.shared_bytes, launch_.cell_shift);
  }
  if (now_ > kLastStart) {
    now_ = 1;
    for (SharedShadow& shadow : shared_) shadow.forget_everything();
  }
  start_ = tick();
  const std::uint32_t* block = launch_.context.block;
  warps_.resize(std::size_t{ctas} * warps_per_cta_);
  for (Entity e = 0; e < warps_.size(); ++e) {
    warps_[e].begin(e, lanes_of(block[0] * block[1] * block[2], e % warps_per_cta_), start_);
    warps_[e].groups()[0].clock.started = 1u << e / warps_per_cta_;
  }
  strong_reads_.assign(warps_.size(), {});
  exchanges_.assign(warps_.size(), {});
  last_.assign(warps_.size(), 0);
  barriers_.assign(ctas, {});
  cluster_barrier_ = {};
  agents_.begin(static_cast<Entity>(warps_.size()));
  shared_sync_.clear();
  updates_.begin(warps_.size());
  exits_.assign(ctas, {});
  ended_.assign(ctas, 0);
  remote_uses_.assign(ctas, {});
  local_written_.assign(warps_.size(), {});
}

void ClusterChecker::cluster_ends() {
  for (const auto& [owner, address, load] : read_early_) log_.note_never_written(load);
  read_early_.clear();
  for (std::uint32_t owner = 0; owner < ctas_; ++owner) {
    for (Entity e = 0; e < remote_uses_[owner].size(); ++e) {
      const RemoteUse& use = remote_uses_[owner][e];
      if (use.time != 0 && !exits_[owner].has_seen(e, use.time)) report_exited(owner, use);
    }
  }
}

void ClusterChecker::warp_exits(const Actor& by) {
  WarpClocks& warp = warp_of(by);
  exits_[by.cta].join(warp.known(by.mask, now_));
  ended_[by.cta] += static_cast<std::uint32_t>(std::popcount(by.mask));
  tick();
  warp.exit(by.mask, last_[warp.self()]);
}

// Returns the linear index of a CTA from its rank. CTAs in a cluster are numbered like CTAs in the
// grid: x, then y, then z.
std::uint64_t ClusterChecker::cta_index(std::uint64_t first, std::uint32_t rank) const {
  const std::uint32_t* grid = launch_.context.grid;
  const std::uint32_t* cluster = launch_.context.cluster;
  const std::uint64_t x = rank % cluster[0], y = rank / cluster[0] % cluster[1],
                      z = rank / cluster[0] / cluster[1];
  return first + x + grid[0] * (y + grid[1] * z);
}

WarpClocks& ClusterChecker::warp_of(const Actor& by) {
  const Entity entity = entity_of(by);
  WarpClocks& warp = warps_[entity];
  if (!strong_reads_[entity].empty()) resolve_strong_reads(warp, strong_reads_[entity]);
  return warp;
}

Clock ClusterChecker::release(const Actor& by) { return warp_of(by).released(by.mask, tick()); }

void ClusterChecker::learn(const Actor& by, const Clock& more) {
  warp_of(by).acquire(by.mask, more, last_, tick());
}

Clock& ClusterChecker::BarrierClock::arriving() {
  if (opened) *this = {};
  return clock;
}

void ClusterChecker::access(const WarpAccess& access) {
  if (access.window != Window::kGlobal) check_array(access);
  if (access.window == Window::kLocal) return access_local(access);
  WarpClocks& warp = warp_of(access.by);
  last_[warp.self()] = now_;
  repeated_ = 0;
  const bool may_update = updates_.watch(access.by.instruction);
  if (may_update && access.kind == AccessKind::kStore) find_lost_updates(access);
  for (LaneGroup& group : warp.groups()) {
    const std::uint32_t lanes = group.mask & access.by.mask;
    if (lanes == 0) continue;
    if (access.window == Window::kShared) {
      access_shared(access, warp, group, lanes);
    } else {
      access_global(access, warp, group, lanes);
    }
  }
  if (access.kind == AccessKind::kAtomic || access.order != MemoryOrder::kWeak) [[unlikely]] {
    note_strong(access, warp);
  }
}

}  // namespace tessera::vgpu::check
