// Decides whether two accesses are ordered, and what to report if they are not.
#include <fmt/format.h>

#include "vgpu/observe/check/cluster_checker.h"
#include "vgpu/observe/cures.h"

namespace tessera::vgpu::check {
namespace {

const char* name_of(AgentKind kind) {
  switch (kind) {
    case AgentKind::kCopyAsync:
      return "cp.async";
    case AgentKind::kMatrix:
      return "wgmma";
    default:
      return "bulk copy";
  }
}

const char* did(AccessKind kind) {
  if (kind == AccessKind::kLoad) return "read";
  return kind == AccessKind::kStore ? "wrote" : "updated";
}

const char* does(AccessKind kind) {
  if (kind == AccessKind::kLoad) return "reads";
  return kind == AccessKind::kStore ? "writes" : "updates";
}

AccessKind kind_of(const Past& past) {
  if (!past.wrote) return AccessKind::kLoad;
  return is_strong(past.site) ? AccessKind::kAtomic : AccessKind::kStore;
}

// The advice for accesses that would not race if each were strong for the other's CTA.
constexpr const char* kWiderScope =
    "name a scope that holds both CTAs (.cluster or .gpu) in both accesses";

}  // namespace

// ---- order --------------------------------------------------------------------------------------

// Whether each of the two accesses is strong for the CTA of the other.
bool ClusterChecker::are_strong_together(const Guest& guest, const Past& past) const {
  const Reach reach = std::min(guest.reach, reach_of(past.site));
  const bool in_one_cta = !guest.agent && !agents_.is_agent(past.entity) &&
                          past.entity / warps_per_cta_ == guest.by.cta;
  return reach >= Reach::kCluster || (reach == Reach::kCta && in_one_cta);
}

// Whether the access was made by a lane that exited before the barrier or arrival through which the
// actions of the rest of its warp are known. Such an access is ordered before nothing.
bool ClusterChecker::left_behind(const Past& past) const {
  return !agents_.is_agent(past.entity) && !is_by_several(past.site) &&
         warps_[past.entity].has_left(lane_of(past.site), past.time);
}

// Whether another lane of the issuing warp made the access, and the two lanes have not met since.
bool ClusterChecker::is_by_unmet_lane(const Guest& guest, const Past& past) const {
  const Agent& agent = *guest.agent;
  const Actor& issuer = agent.issuer;
  if (past.entity != entity_of(issuer) || past.time <= agent.met) return false;
  const int lane = lane_of(past.site);
  if (guest.copied_for >= 0) {
    return (is_by_several(past.site) || lane != guest.copied_for) &&
           !warps_[past.entity].have_met(guest.copied_for, lane, past.time);
  }
  if (agent.kind != AgentKind::kBulkCopy) return false;
  if (is_by_several(past.site) || issuer.mask >> lane & 1) return false;
  return !warps_[past.entity].have_met(__builtin_ctz(issuer.mask), lane, past.time);
}

void ClusterChecker::judge(const Guest& guest, const Past& past) {
  if (are_strong_together(guest, past)) return;
  const Clock& clock = *guest.clock;
  if (guest.agent) {
    if (past.entity == guest.agent->reads || past.entity == guest.agent->writes) return;
    if (!clock.has_seen(past.entity, past.time) || left_behind(past)) {
      return report_unordered(guest, past);
    }
    const bool is_unmet = is_by_unmet_lane(guest, past);
    if (guest.agent->is_generic() && is_unmet) return report_unmet_lane(guest, past);
    if (guest.agent->is_generic() || agents_.is_async(past.entity)) return;
    const bool fenced = guest.is_map ? clock.maps_have_seen(past.entity, past.time)
                                     : clock.async_has_seen(guest.window, past.entity, past.time);
    if (!fenced) return report_unfenced(guest, past);
    if (is_unmet) report_unmet_lane(guest, past);
    return;
  }
  if (clock.has_seen(past.entity, past.time) && !left_behind(past)) return;
  const WarpClocks& warp = warps_[guest.entity];
  const bool is_own_copy = warp.own_copies().has_seen(past.entity, past.time);
  if (past.entity != guest.entity && !is_own_copy) return report_unordered(guest, past);
  const bool by_another = is_by_several(past.site) || lane_of(past.site) != guest.lane;
  if (!by_another) return;
  const Time since = is_own_copy ? warp.own_copies().seen[past.entity] : past.time;
  if (warp.have_met(guest.lane, lane_of(past.site), since)) return;
  report_lockstep(guest, past);
}

void ClusterChecker::judge_foreign(const Guest& guest, const GlobalPast& past) {
  if (guest.reach == Reach::kAll && reach_of(past.past.site) == Reach::kAll) return;
  if (knows(guest.clock->others, past.cluster, past.past.entity, past.past.time)) return;
  report_foreign_race(guest, past);
}

// ---- places -------------------------------------------------------------------------------------

Place ClusterChecker::place_of(const Guest& guest) const {
  Place place;
  place.does = does(guest.kind);
  place.what =
      fmt::format("{} {} bytes of {}", did(guest.kind), guest.bytes, name_of(guest.window));
  if (guest.agent) place.what = fmt::format("{} {}", name_of(guest.agent->kind), place.what);
  place.instruction = guest.by.instruction;
  place.cta = cta_index(first_, guest.by.cta);
  place.warp = guest.agent ? -1 : static_cast<int>(guest.by.warp);
  place.lane = guest.lane;
  return place;
}

// Returns the place of a past access by this cluster.
Place ClusterChecker::place_of(const Past& past, const Guest& guest) const {
  Place place;
  const bool by_agent = agents_.is_agent(past.entity);
  place.does = does(kind_of(past));
  place.what = fmt::format("{} this {}", did(kind_of(past)), name_of(guest.window));
  place.instruction = instruction_of(past.site);
  if (by_agent) {
    const AgentTrace& trace = agents_.trace(past.entity);
    place.what = fmt::format("{} {}", name_of(trace.kind), place.what);
    place.cta = cta_index(first_, trace.issuer.cta);
  } else {
    place.cta = cta_index(first_, past.entity / warps_per_cta_);
    place.warp = static_cast<int>(past.entity % warps_per_cta_);
    place.lane = lane_of(past.site);
  }
  return place;
}

std::string ClusterChecker::who(const Place& place, bool with_cta) const {
  const std::string cta = with_cta ? fmt::format("CTA {} ", place.cta) : "";
  if (place.warp < 0)
    return fmt::format("{}the asynchronous operation of {}", cta, log_.line(place.instruction));
  return fmt::format("{}warp {} ({})", cta, place.warp, log_.line(place.instruction));
}

void ClusterChecker::fill(Finding& finding, const Place& later, const Place& earlier) const {
  finding.places = {log_.place(later), log_.place(earlier)};
}

// ---- words --------------------------------------------------------------------------------------

std::string ClusterChecker::between(const Place& earlier, const Place& later) const {
  const auto name = [](const FindingPlace& place) {
    return place.source_line > 0 ? fmt::format("line {}", place.source_line)
                                 : fmt::format("PTX line {}", place.ptx_line);
  };
  return gap_text(log_.place(earlier), log_.place(later), earlier.instruction >= later.instruction,
                  name);
}

// Whether to report the accesses in the other order. Warps run one after the other here, so the
// access that is first in the program may be seen last. If a barrier is missing on only one of the
// two paths between the accesses, that path is reported.
bool ClusterChecker::is_other_way_round(const Guest& guest, const Past& past) {
  if (guest.agent || agents_.is_agent(past.entity)) return false;
  const std::uint32_t before = instruction_of(past.site), now = guest.by.instruction;
  return !paths_.is_free(before, now) && paths_.is_free(now, before);
}

std::string ClusterChecker::hint_for_race(const Guest& guest, const Past& past, const Place& later,
                                          const Place& earlier) const {
  const std::string where = between(earlier, later);
  if (left_behind(past)) {
    return fmt::format(
        "lane {} of warp {} ended without coming to the barrier or arrival that the others go on "
        "to: let every thread of the block reach it before it returns",
        lane_of(past.site), past.entity % warps_per_cta_);
  }
  if (agents_.is_agent(past.entity)) {
    return past.wrote
               ? fmt::format("wait for the copy's mbarrier phase, in every thread that goes on, {}",
                             where)
               : fmt::format(
                     "wait until the copy has read its source (cp.async.bulk.wait_group.read) {}",
                     where);
  }
  if (guest.agent) {
    return fmt::format(
        "let whoever issues {} wait for these threads first: a barrier, or an "
        "mbarrier at which they arrive, {}",
        log_.line(later.instruction), where);
  }
  if (guest.reach != Reach::kNobody && is_strong(past.site)) return kWiderScope;
  return fmt::format(
      "give each thread that runs {} a place of its own, let one thread do it, or make it atomic",
      log_.line(later.instruction));
}

void ClusterChecker::report_race(const Guest& guest, const Past& past) {
  if (stores_what_lies_there(guest, past)) return report_same_value(guest, past.site);
  std::uint32_t last = guest.by.instruction, first = instruction_of(past.site);
  if (guest.window == Window::kShared && read_early_.erase({guest.owner, guest.address, first})) {
    log_.note_written_late(first, last);
  }
  const bool swap = is_other_way_round(guest, past);
  if (swap) std::swap(last, first);
  Finding* finding = log_.note("race", Severity::kError, last, first, guest.address);
  if (!finding) return;
  Place later = place_of(guest), earlier = place_of(past, guest);
  if (swap) std::swap(later, earlier);
  fill(*finding, later, earlier);
  const bool ctas = later.cta != earlier.cta;
  finding->message =
      capital(fmt::format("{} {} {} that {} {}, and nothing orders the two", who(later, ctas),
                          later.does, name_of(guest.window), who(earlier, ctas), earlier.does));
  const std::string cure = cure_for_race(guest, past, later, earlier);
  if (cure.empty()) {
    finding->hint = hint_for_race(guest, past, later, earlier);
  } else {
    set_cure(*finding, cure, between(earlier, later));
  }
}

void ClusterChecker::report_lockstep(const Guest& guest, const Past& past) {
  if (stores_what_lies_there(guest, past)) return report_same_value(guest, past.site);
  if (is_same_issue(guest, past)) return report_same_store(guest);
  const bool is_repeated = guest.lane >= 0 && (repeated_ >> guest.lane & 1) != 0;
  if (is_repeated && log_.change_of(guest.by.instruction, instruction_of(past.site))) {
    return report_same_value(guest, past.site);
  }
  Finding* finding = log_.note("lockstep", Severity::kLockstep, guest.by.instruction,
                               instruction_of(past.site), guest.address);
  if (!finding) return;
  const Place later = place_of(guest), earlier = place_of(past, guest);
  fill(*finding, later, earlier);
  const int lane = lane_of(past.site);
  const std::string other = lane == later.lane ? "another lane" : fmt::format("lane {}", lane);
  finding->message = fmt::format(
      "Lane {} of {} {} {} that {} {} ({}), which is right only while the lanes of a warp run in "
      "step, which nothing promises",
      later.lane, who(later, false), later.does, name_of(guest.window), other, earlier.does,
      log_.line(earlier.instruction));
  const Exchange& exchange = exchanges_[guest.agent ? 0 : guest.entity];
  if (!guest.agent && exchange.time >= past.time) {
    finding->message +=
        fmt::format(": {} between them brings the lanes together and orders no memory",
                    log_.line(exchange.instruction));
  }
  const bool by_agent = agents_.is_agent(past.entity);
  set_cure(*finding, by_agent ? "put __syncwarp() behind the wait" : "put __syncwarp()",
           between(earlier, later));
}

void ClusterChecker::report_unfenced(const Guest& guest, const Past& past) {
  const bool is_allowed = !past.wrote && launch_.context.observation.allows_unfenced_reads;
  Finding* finding =
      log_.note("missing-proxy-fence", is_allowed ? Severity::kNote : Severity::kError,
                guest.by.instruction, instruction_of(past.site), guest.address);
  if (!finding) return;
  const Place later = place_of(guest), earlier = place_of(past, guest);
  fill(*finding, later, earlier);
  const char* fence = guest.is_map ? "fence.proxy.tensormap" : "fence.proxy.async";
  finding->message =
      capital(fmt::format("{} {} {} that {} {} the ordinary way, and no {} stands between",
                          who(later, false), guest.is_map ? "uses the tensor map in" : later.does,
                          name_of(guest.window), who(earlier, false), earlier.does, fence));
  finding->hint =
      guest.is_map
          ? fmt::format(
                "put fence.proxy.tensormap::generic.release after {} and .acquire before {}",
                log_.line(earlier.instruction), log_.line(later.instruction))
          : fmt::format(
                "put fence.proxy.async after {}, in the threads that run it, before the "
                "barrier or arrival that leads to {}",
                log_.line(earlier.instruction), log_.line(later.instruction));
  if (!guest.is_map) {
    finding->cure = "put fence.proxy.async";
    finding->cure_at = CureAt::kBeforeBarrier;
  }
  // WHY the remark: if the read comes first, no failure is known, and well-known libraries omit the
  // fence. But the PTX ISA requires it.
  if (!past.wrote) finding->hint += " (for a read that comes first, much code goes without)";
}

void ClusterChecker::report_foreign_race(const Guest& guest, const GlobalPast& past) {
  if (stores_what_lies_there(guest, past.past)) return report_same_value(guest, past.past.site);
  const Place later = place_of(guest);
  const std::uint32_t instruction = instruction_of(past.past.site);
  Finding* finding =
      log_.note("race", Severity::kError, later.instruction, instruction, guest.address);
  if (!finding) return;
  const std::uint32_t warps = ctas_ * warps_per_cta_;
  const bool by_agent = past.past.entity >= warps;
  Place earlier;
  earlier.what = fmt::format("{} this global memory", past.past.wrote ? "wrote" : "read");
  earlier.instruction = instruction;
  earlier.cta =
      by_agent ? past.cluster : cta_index(past.cluster, past.past.entity / warps_per_cta_);
  if (!by_agent) {
    earlier.warp = static_cast<int>(past.past.entity % warps_per_cta_);
    earlier.lane = lane_of(past.past.site);
  }
  fill(*finding, later, earlier);
  finding->message = capital(fmt::format("{} {} global memory that {} {}, and nothing orders CTAs",
                                         who(later, true), did(guest.kind), who(earlier, true),
                                         past.past.wrote ? "wrote" : "read"));
  const bool are_strong = guest.reach != Reach::kNobody && is_strong(past.past.site);
  if (are_strong) finding->hint = kWiderScope;
  if (are_strong) return;
  finding->hint = fmt::format(
      "give each CTA memory of its own, make both accesses atomic, or hand over with "
      "__threadfence() and an atomic flag after {} that {} waits for",
      log_.line(instruction), log_.line(later.instruction));
}

void ClusterChecker::report_uninitialised(const Guest& guest) {
  const std::uint32_t here = guest.by.instruction;
  const bool shared = guest.window == Window::kShared;
  if (shared) read_early_.insert({guest.owner, guest.address, here});
  Finding* finding = log_.note(shared ? "uninitialised-shared-read" : "uninitialised-global-read",
                               Severity::kError, here, here, guest.address);
  if (!finding) return;
  const Place place = place_of(guest);
  finding->places = {log_.place(place)};
  finding->message = capital(fmt::format("{} reads {} that nobody has written", who(place, false),
                                         shared ? "shared memory of its CTA" : "global memory"));
  const std::string line = log_.line(place.instruction);
  finding->hint =
      shared ? fmt::format("write these bytes before {}, or do not read them", line)
             : fmt::format(
                   "let the host or an earlier kernel write them, or do not read them at {}", line);
}

void ClusterChecker::report_forbidden(const Guest& guest) {
  const Mbarrier* barrier = mbarriers_.holding(guest.owner, guest.address);
  const Place later = place_of(guest);
  const std::uint32_t init = barrier ? barrier->by.instruction : later.instruction;
  Finding* finding =
      log_.note("mbarrier-bytes", Severity::kError, later.instruction, init, guest.address);
  if (!finding) return;
  Place earlier{"initialised the barrier object", init, later.cta, -1, -1};
  if (barrier) {
    earlier.cta = cta_index(first_, barrier->by.cta);
    earlier.warp = static_cast<int>(barrier->by.warp);
  }
  fill(*finding, later, earlier);
  finding->message = capital(
      fmt::format("{} {} bytes of a barrier object in use, initialised at {}", who(later, false),
                  guest.kind == AccessKind::kLoad ? "reads" : "overwrites", log_.line(init)));
  finding->hint = fmt::format(
      "keep data away from the 8 bytes of the barrier object, or end it with mbarrier.inval before "
      "{}",
      log_.line(later.instruction));
}

void ClusterChecker::report_unseen_init(const Mbarrier& barrier, MbarrierPlace place,
                                        const Place& user) {
  Finding* finding = log_.note("missing-init-fence", Severity::kError, user.instruction,
                               barrier.by.instruction, place.offset);
  if (!finding) return;
  const Place init{"initialised the barrier object", barrier.by.instruction,
                   cta_index(first_, barrier.by.cta), static_cast<int>(barrier.by.warp),
                   __builtin_ctz(barrier.by.mask)};
  fill(*finding, user, init);
  const bool other_cta = user.cta != init.cta;
  finding->message = capital(
      fmt::format("{} {} a barrier object that {} initialised, and no barrier stands between",
                  who(user, other_cta), user.lane < 0 ? "signals" : "uses", who(init, other_cta)));
  const char* cure =
      other_cta ? "put a barrier of the cluster (before a relaxed arrival fence.mbarrier_init, too)"
                : "put __syncthreads()";
  set_cure(*finding, cure,
           fmt::format("after {}, before {}", log_.line(barrier.by.instruction),
                       log_.line(user.instruction)));
}

void ClusterChecker::report_exited(std::uint32_t owner, const RemoteUse& use) {
  Finding* finding =
      log_.note("exited-cta", Severity::kError, use.place.instruction, use.place.instruction, 0);
  if (!finding) return;
  finding->has_address = false;
  finding->places = {log_.place(use.place)};
  finding->message =
      capital(fmt::format("{} touches shared memory of CTA {}, which may have ended by then",
                          who(use.place, true), cta_index(first_, owner)));
  finding->hint = fmt::format(
      "put a barrier of the cluster (arrive and wait) after {}, before any CTA of it ends",
      log_.line(use.place.instruction));
  finding->cure = "put a barrier of the cluster (arrive and wait)";
  finding->cure_at = CureAt::kBeforeExit;
}

}  // namespace tessera::vgpu::check
