// The events that order threads: barriers, fences, mbarrier objects, and the start and end of
// asynchronous operations.
#include "vgpu/observe/check/cluster_checker.h"

namespace tessera::vgpu::check {
namespace {

constexpr std::uint32_t kBarrierOfBlock = 0;  // the barrier of __syncthreads()

// Returns the knowledge that a relaxed arrival passes on: the initialisations that
// fence.mbarrier_init has ordered before it, and which CTAs have started.
Clock only_inits(const Clock& clock) {
  Clock inits;
  inits.inits = clock.inits;
  inits.started = clock.started;
  return inits;
}

}  // namespace

// ---- threads ------------------------------------------------------------------------------------

void ClusterChecker::warp_syncs(const Actor& by) {
  WarpClocks& warp = warp_of(by);
  absorb_pending(by, warp);
  warp.meet(by.mask, last_, tick());
}

void ClusterChecker::warp_exchanges(const Actor& by) {
  WarpClocks& warp = warp_of(by);
  absorb_pending(by, warp);
  const Time now = tick();
  warp.exchange(by.mask, last_, now);
  exchanges_[warp.self()] = {now, by.instruction};
}

void ClusterChecker::barrier_arrives(const Actor& by, std::uint32_t id) {
  absorb_pending(by, warp_of(by));
  BarrierClock& barrier = barriers_[by.cta][id];
  barrier.arriving().join(release(by));
  if (!barrier.first) barrier.first = by;
  if (id == kBarrierOfBlock) report_split_barrier(by, *barrier.first);
}

void ClusterChecker::barrier_passes(const Actor& by, std::uint32_t id) {
  BarrierClock& barrier = barriers_[by.cta][id];
  barrier.opened = true;
  if (id == kBarrierOfBlock && ended_[by.cta] != 0) report_skipped_barrier(by);
  WarpClocks& warp = warp_of(by);
  if (warp.groups().size() > 1) warp.meet(by.mask, last_, tick());
  learn(by, barrier.clock);
}

void ClusterChecker::cluster_arrives(const Actor& by, MemoryOrder order) {
  absorb_pending(by, warp_of(by));
  const Clock clock = release(by);
  const bool relaxed = order == MemoryOrder::kRelaxed || order == MemoryOrder::kWeak;
  cluster_barrier_.arriving().join(relaxed ? only_inits(clock) : clock);
}

void ClusterChecker::cluster_passes(const Actor& by, MemoryOrder) {
  cluster_barrier_.opened = true;
  learn(by, cluster_barrier_.clock);
}

void ClusterChecker::fence(const Actor& by, FenceKind kind, MemoryScope scope) {
  WarpClocks& warp = warp_of(by);
  if (kind == FenceKind::kThread) return fence_threads(by, warp, scope);
  if (kind == FenceKind::kWgmma) return;
  if (kind == FenceKind::kEarlierLaunches) {
    return warp.change(by.mask, [](LaneGroup& group) { group.clock.earlier_have_ended = true; });
  }
  const Time now = tick();
  warp.change(by.mask, [&](LaneGroup& group) {
    Clock& clock = group.clock;
    const auto show = [&](std::vector<Time>& to) {
      to = clock.seen;
      join(to, clock.stayed);
      join(to, warp.own_copies().seen);
      at(to, warp.self()) = now;
    };
    if (kind == FenceKind::kProxyAsync || kind == FenceKind::kProxyAsyncShared) {
      show(clock.seen_by_async);
    }
    if (kind == FenceKind::kProxyAsync || kind == FenceKind::kProxyAsyncGlobal) {
      show(clock.seen_by_async_in_global);
    }
    if (kind == FenceKind::kProxyAsyncGlobal) return;
    if (kind == FenceKind::kProxyTensormap) {
      show(clock.seen_by_maps);
      return;
    }
    at(clock.inits, warp.self()) = now;
  });
}

// ---- barrier objects ----------------------------------------------------------------------------

void ClusterChecker::mbarrier_inits(const Actor& by, MbarrierPlace place) {
  Guest guest;
  WarpClocks& warp = warp_of(by);
  guest.clock = &warp.group_of(__builtin_ctz(by.mask)).clock;
  guest.entity = warp.self();
  guest.by = by;
  guest.lane = __builtin_ctz(by.mask);
  guest.kind = AccessKind::kStore;
  guest.owner = place.owner;
  guest.address = place.offset;
  guest.bytes = kMbarrierBytes;
  visit_shared(guest, start_);
  SharedShadow& shadow = shared_[place.owner];
  const std::uint32_t end = shadow.end_of(place.offset, kMbarrierBytes);
  for (std::uint32_t cell = shadow.cell_of(place.offset); cell < end; ++cell) shadow.forbid(cell);
  Mbarrier& barrier = mbarriers_.init(place);
  barrier.by = by;
  barrier.initialiser = warp.self();
  barrier.initialised = tick();
}

void ClusterChecker::mbarrier_ends(const Actor& by, MbarrierPlace place) {
  const Time now = tick();
  SharedShadow& shadow = shared_[place.owner];
  const Visitor visitor{entity_of(by),
                        with_lane(site_of(by.instruction, Reach::kNobody), __builtin_ctz(by.mask)),
                        start_, start_, now};
  last_[visitor.entity] = now;
  const std::uint32_t end = shadow.end_of(place.offset, kMbarrierBytes);
  for (std::uint32_t cell = shadow.cell_of(place.offset); cell < end; ++cell) {
    shadow.write_cell(visitor, cell);
  }
  mbarriers_.end(place);
}

void ClusterChecker::mbarrier_arrives(const Actor& by, MbarrierPlace place, std::uint64_t number,
                                      MemoryOrder order) {
  use_mbarrier(by, place);
  Mbarrier* barrier = mbarriers_.find(place);
  if (!barrier) return;
  Mbarrier::Phase& phase = barrier->phase(number);
  WarpClocks& warp = warp_of(by);
  if (order != MemoryOrder::kRelaxed) {
    absorb_pending(by, warp);
    return phase.released.join(release(by));
  }
  for (const LaneGroup& group : warp.groups()) {
    if (!(group.mask & by.mask)) continue;
    phase.released.started |= group.clock.started;
    // Only threads of the CTA that owns the mbarrier can wait at it.
    join(phase.fenced, place.owner == by.cta ? group.clock.fenced_for_cta : group.clock.fenced);
  }
}

void ClusterChecker::mbarrier_passes(const Actor& by, MbarrierPlace place, std::uint64_t number,
                                     MemoryOrder order) {
  use_mbarrier(by, place);
  Mbarrier* barrier = mbarriers_.find(place);
  if (!barrier) return;
  const auto found = barrier->phases.find(number);
  if (found == barrier->phases.end()) return;
  const Mbarrier::Phase& phase = found->second;
  WarpClocks& warp = warp_of(by);
  const SharedHorizon released =
      order == MemoryOrder::kRelaxed ? horizon_of(phase.released) : nullptr;
  warp.change(by.mask, [&](LaneGroup& group) {
    group.clock.started |= phase.released.started;
    join(group.pending, phase.fenced);
    join(group.pending, released);
  });
  if (order == MemoryOrder::kRelaxed) return;
  absorb_pending(by, warp);
  learn(by, phase.released);
}

namespace {

bool knows_of_init(const Clock& clock, const Mbarrier& barrier) {
  const Entity who = barrier.initialiser;
  return clock.has_seen(who, barrier.initialised) ||
         (who < clock.inits.size() && barrier.initialised <= clock.inits[who]);
}

}  // namespace

// Checks that a thread that uses an mbarrier knows of its initialisation.
void ClusterChecker::use_mbarrier(const Actor& by, MbarrierPlace place) {
  const Mbarrier* barrier = mbarriers_.find(place);
  WarpClocks& warp = warp_of(by);
  const int lane = __builtin_ctz(by.mask);
  Guest guest;
  guest.entity = warp.self();
  guest.by = by;
  guest.lane = lane;
  guest.owner = place.owner;
  if (place.owner != by.cta) note_remote(guest);
  if (!barrier || barrier->initialiser == warp.self()) return;
  if (knows_of_init(warp.group_of(lane).clock, *barrier)) return;
  report_unseen_init(*barrier, place,
                     {"used the barrier object", by.instruction, cta_index(first_, by.cta),
                      static_cast<int>(by.warp), lane});
}

// ---- asynchronous agents ------------------------------------------------------------------------

void ClusterChecker::agent_starts(const Actor& issuer, AgentId id, AgentKind kind) {
  WarpClocks& warp = warp_of(issuer);
  const std::vector<Time>& known = warp.group_of(__builtin_ctz(issuer.mask)).clock.seen;
  const Time met = warp.self() < known.size() ? known[warp.self()] : 0;
  Clock clock = release(issuer);
  Agent& agent = agents_.start(issuer, id, kind);
  agent.clock.join(clock);
  agent.met = met;
  // Computes the agent's floor, the time up to which all actions are ordered before it. Actions of
  // threads count only if a fence orders them before asynchronous operations.
  agent.floor = now_;
  for (Entity e = 0; e < last_.size(); ++e) {
    if (e == agent.reads || e == agent.writes) continue;
    Time known = e < agent.clock.seen.size() ? agent.clock.seen[e] : 0;
    if (e == warp.self() && kind != AgentKind::kMatrix) known = std::min(known, met);
    if (!agent.is_generic() && !agents_.is_async(e)) {
      const auto& fenced = agent.clock.seen_by_async;
      known = std::min(known, e < fenced.size() ? fenced[e] : 0);
    }
    if (last_[e] > known) agent.floor = std::min(agent.floor, known);
  }
  agent.floor = std::max(agent.floor, start_);
  tick();
}

void ClusterChecker::agent_signals(AgentId id, MbarrierPlace place, std::uint64_t phase) {
  Agent* agent = agents_.find(id);
  Mbarrier* barrier = mbarriers_.find(place);
  if (!agent || !barrier) return;
  const Place user{"signals the barrier object", agent->issuer.instruction,
                   cta_index(first_, agent->issuer.cta), static_cast<int>(agent->issuer.warp), -1};
  // No proxy fence is needed: the operation accesses its mbarrier through the generic proxy.
  if (!knows_of_init(agent->clock, *barrier)) report_unseen_init(*barrier, place, user);
  const Time now = tick();
  Clock& clock = barrier->phase(phase).released;
  at(clock.seen, agent->reads) = now;
  at(clock.seen, agent->writes) = now;
  clock.started |= agent->clock.started;
  agents_.end(id);
}

void ClusterChecker::agent_covered(const Actor& by, AgentId id) {
  Entity reads = 0;
  if (!agents_.find_entities(id, reads)) return;
  Clock over;
  at(over.covered, reads) = tick();
  learn(by, over);
}

// If the wait covers only reads, the writes to global memory are still in flight.
void ClusterChecker::agent_awaited(const Actor& by, AgentId id, bool read_only) {
  Entity reads = 0;
  if (!agents_.find_entities(id, reads)) return;
  const Time now = tick();
  Clock over;
  at(over.seen, reads) = now;
  const bool is_own = agents_.is_agent(reads) && !agents_.is_async(reads);
  if (is_own && !read_only) warp_of(by).await_own(by.mask, reads + 1, now);
  if (!is_own && !read_only) at(over.seen, reads + 1) = now;
  learn(by, over);
  agents_.end(id);
}

}  // namespace tessera::vgpu::check
