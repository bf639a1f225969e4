#include "vgpu/async/mbarrier.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "vgpu/async/parts.h"

namespace tessera::vgpu {
namespace {

// HW: ranges of PTX ISA, mbarrier: counts from 1 to 2^20 - 1, pending bytes from -(2^20 - 1) to
// 2^20 - 1.
constexpr std::uint32_t kMaxCount = (1 << 20) - 1;

std::string named(const SharedPlace& place) {
  return fmt::format("the mbarrier at shared offset {}", place.offset);
}

}  // namespace

std::uint64_t state_of(const Mbarrier& object) {
  return object.phase << 40 | std::uint64_t{object.expected} << 20 | object.pending;
}
std::uint64_t phase_in_state(std::uint64_t state) { return state >> 40; }
std::uint32_t pending_in_state(std::uint64_t state) {
  return static_cast<std::uint32_t>(state) & kMaxCount;
}

Mbarrier& Mbarriers::at(const Site& site, const SharedPlace& place) {
  const auto found = objects_.find(key(place));
  if (found == objects_.end()) {
    site.fault(FaultKind::kBarrier,
               fmt::format("there is no mbarrier at shared offset {}{}: mbarrier.init has not run "
                           "on it, or mbarrier.inval has",
                           place.offset,
                           place.owner == site.warp->cta().rank()
                               ? ""
                               : fmt::format(" of CTA {} of the cluster", place.owner)));
  }
  Mbarrier& object = found->second;
  std::uint64_t bytes;
  std::memcpy(&bytes, place.host, sizeof bytes);
  if (bytes != object.stored) {
    site.notice("mbarrier-overwritten", named(place) + " was overwritten by ordinary accesses",
                "Keep its eight bytes apart from other data until mbarrier.inval");
    store(object, place);
  }
  return object;
}

void Mbarriers::store(Mbarrier& object, const SharedPlace& place) {
  ++changes_;
  object.stored = state_of(object);
  std::memcpy(place.host, &object.stored, sizeof object.stored);
}

void Mbarriers::account(const Site& site, Mbarrier& object, MbarrierEvent event,
                        std::uint64_t amount) const {
  if (cluster_.observer()) object.account.note(site, event, amount);
}

void Mbarriers::init(const Site& site, const SharedPlace& place, std::uint32_t count) {
  if (count == 0 || count > kMaxCount) {
    site.fault(FaultKind::kBarrier,
               fmt::format("{} cannot wait for {} arrivals: 1 to {} are possible", named(place),
                           count, kMaxCount));
  }
  const auto [at, is_new] = objects_.try_emplace(key(place));
  if (!is_new) {
    site.notice("mbarrier-init-live", named(place) + " is initialised while it is in use",
                "Run mbarrier.inval first, or initialise it once");
  }
  at->second = {};
  at->second.expected = at->second.pending = count;
  account(site, at->second, MbarrierEvent::kInit, count);
  store(at->second, place);
  if (Observer* observer = cluster_.observer()) {
    observer->mbarrier_inits(site.actor(), {place.owner, place.offset});
  }
}

void Mbarriers::invalidate(const Site& site, const SharedPlace& place) {
  at(site, place);
  objects_.erase(key(place));
  ++changes_;
  if (Observer* observer = cluster_.observer()) {
    observer->mbarrier_ends(site.actor(), {place.owner, place.offset});
  }
}

void Mbarriers::check_tx(const Site& site, const Mbarrier& object, const SharedPlace& place) const {
  const auto limit = static_cast<std::int64_t>(kMaxCount);
  if (object.tx >= -limit && object.tx <= limit) return;
  site.notice("mbarrier-tx-overflow",
              fmt::format("{} waits for {} bytes; at most {} can be counted", named(place),
                          object.tx, limit),
              "Split the copies over several phases or barriers");
}

void Mbarriers::end_phase_if_done(Mbarrier& object, const SharedPlace& place) {
  const bool done = object.pending == 0 && object.tx == 0;
  if (done) {
    ++object.phase;
    object.pending = object.expected;
    object.waiters.clear();
    object.account.begin_phase();
  }
  store(object, place);
  if (done) cluster_.cta(place.owner).mbarrier_opens(place.offset);
}

std::uint64_t Mbarriers::arrive(const Site& site, const SharedPlace& place,
                                const Arrival& arrival) {
  Mbarrier& object = at(site, place);
  const std::uint64_t before = state_of(object);
  if (arrival.expects) {
    object.tx += arrival.expect_bytes;
    account(site, object, MbarrierEvent::kPromises, arrival.expect_bytes);
    check_tx(site, object, place);
  }
  if (arrival.count == 0 || arrival.count > object.pending) {
    site.fault(
        FaultKind::kBarrier,
        fmt::format("{} arrivals at {}, which waits for {} of {} in its phase {}", arrival.count,
                    named(place), object.pending, object.expected, object.phase));
  }
  if (Observer* observer = cluster_.observer()) {
    observer->mbarrier_arrives(site.actor(), {place.owner, place.offset}, object.phase,
                               arrival.relaxed ? MemoryOrder::kRelaxed : MemoryOrder::kRelease);
  }
  object.pending -= arrival.count;
  account(site, object, MbarrierEvent::kArrives, arrival.count);
  if (arrival.drops) object.expected -= arrival.count;
  if (arrival.no_complete && object.pending == 0 && object.tx == 0) {
    site.fault(FaultKind::kBarrier,
               "an arrival with .noComplete would end the phase of " + named(place));
  }
  end_phase_if_done(object, place);
  return before;
}

void Mbarriers::expect(const Site& site, const SharedPlace& place, std::uint32_t bytes) {
  Mbarrier& object = at(site, place);
  object.tx += bytes;
  account(site, object, MbarrierEvent::kPromises, bytes);
  check_tx(site, object, place);
  end_phase_if_done(object, place);
}

void Mbarriers::complete(const Site& site, const SharedPlace& place, std::uint32_t bytes,
                         AgentId agent) {
  Mbarrier& object = at(site, place);
  object.tx -= bytes;
  account(site, object, MbarrierEvent::kBrings, bytes);
  check_tx(site, object, place);
  Observer* observer = cluster_.observer();
  if (observer && agent != 0) {
    observer->agent_signals(agent, {place.owner, place.offset}, object.phase);
  }
  end_phase_if_done(object, place);
}

void Mbarriers::add_pending(const Site& site, const SharedPlace& place) {
  Mbarrier& object = at(site, place);
  if (object.pending == kMaxCount) {
    site.fault(FaultKind::kBarrier, "too many arrivals are pending at " + named(place));
  }
  ++object.pending;
  store(object, place);
}

void Mbarriers::arrive_for(const Site& site, const SharedPlace& place,
                           const std::vector<AgentId>& agents) {
  Mbarrier& object = at(site, place);
  if (object.pending == 0) {
    site.fault(FaultKind::kBarrier, "no arrival is waited for at " + named(place));
  }
  if (Observer* observer = cluster_.observer()) {
    for (AgentId agent : agents) {
      observer->agent_signals(agent, {place.owner, place.offset}, object.phase);
    }
  }
  --object.pending;
  account(site, object, MbarrierEvent::kArrives, 1);
  end_phase_if_done(object, place);
}

// ---- waits --------------------------------------------------------------------------------------

void Mbarriers::note_seen(const Site& site, Mbarrier& object, std::uint64_t phase) {
  const std::uint32_t warp = site.warp->index();
  if (object.seen.size() <= warp) object.seen.resize(warp + 1);
  object.seen[warp] = std::max(object.seen[warp], phase + 1);
}

void Mbarriers::note_waiter(const Site& site, Mbarrier& object, std::uint64_t meant) {
  const std::uint32_t warp = site.warp->index();
  for (const MbarrierWaiter& waiter : object.waiters) {
    if (waiter.warp == warp) return;
  }
  object.waiters.push_back({warp, site.lane, site.op, meant});
}

void Mbarriers::tell(std::uint32_t owner, std::uint32_t warp, std::uint32_t barrier) {
  for (auto& [where, object] : objects_) {
    if (where >> 32 != owner || object.seen.size() <= warp) continue;
    object.told[barrier] = std::max(object.told[barrier], object.seen[warp]);
  }
}

void Mbarriers::hear(std::uint32_t owner, std::uint32_t warp, std::uint32_t barrier) {
  for (auto& [where, object] : objects_) {
    if (where >> 32 != owner || object.told[barrier] == 0) continue;
    if (object.seen.size() <= warp) object.seen.resize(warp + 1);
    object.seen[warp] = std::max(object.seen[warp], object.told[barrier]);
  }
}

std::optional<std::uint64_t> Mbarriers::test_state(const Site& site, const SharedPlace& place,
                                                   std::uint64_t state) {
  Mbarrier& object = at(site, place);
  const std::uint64_t phase = phase_in_state(state);
  if (phase > object.phase || object.phase > phase + 1) {
    site.fault(FaultKind::kBarrier,
               fmt::format("{} is in phase {}, the state that is tested is of phase {}: it must be "
                           "this phase or the one before",
                           named(place), object.phase, phase));
  }
  if (phase == object.phase) {
    note_waiter(site, object, phase);
    return std::nullopt;
  }
  note_seen(site, object, phase);
  return phase;
}

// The test succeeds if the phase of this parity has ended, that is if the current phase has the
// other parity. If a warp knows n phases to have ended, it means the first phase of this parity
// from n on.
std::optional<std::uint64_t> Mbarriers::test_parity(const Site& site, const SharedPlace& place,
                                                    std::uint32_t parity) {
  Mbarrier& object = at(site, place);
  const std::uint32_t warp = site.warp->index();
  const std::uint64_t seen = warp < object.seen.size() ? object.seen[warp] : 0;
  const std::uint64_t meant = seen + ((seen ^ parity) & 1);
  if (seen != 0 && object.phase >= meant + 2) {
    site.notice(
        "mbarrier-parity-alias",
        fmt::format("a wait at {} comes too late: it means phase {}, which parity cannot tell from "
                    "phase {}, where the barrier is now",
                    named(place), meant, object.phase),
        "Let the barrier go on only when all who wait for a phase have passed it");
  }
  if ((object.phase & 1) == parity) {
    note_waiter(site, object, meant);
    return std::nullopt;
  }
  if (object.phase == 0) return kNoPhase;
  note_seen(site, object, object.phase - 1);
  return object.phase - 1;
}

std::string Mbarriers::describe(std::uint32_t owner) const {
  std::vector<std::uint64_t> keys;
  for (const auto& [where, object] : objects_) {
    if (where >> 32 == owner) keys.push_back(where);
  }
  std::sort(keys.begin(), keys.end());
  std::string text;
  for (std::uint64_t where : keys) {
    const Mbarrier& object = objects_.at(where);
    text += fmt::format(
        "\n  mbarrier at shared offset {}: phase {}, {} of {} arrivals and {} bytes pending",
        static_cast<std::uint32_t>(where), object.phase, object.pending, object.expected,
        object.tx);
  }
  return text;
}

std::map<std::uint32_t, const Mbarrier*> Mbarriers::waited_for(std::uint32_t owner) const {
  std::map<std::uint32_t, const Mbarrier*> found;
  for (const auto& [where, object] : objects_) {
    if (where >> 32 != owner || object.waiters.empty()) continue;
    found.emplace(static_cast<std::uint32_t>(where), &object);
  }
  return found;
}

}  // namespace tessera::vgpu
