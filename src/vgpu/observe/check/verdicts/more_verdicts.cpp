// The single change that fixes a finding; and findings that are not races: accesses that only the
// collective wgmma orders, and misuse of barriers and the heap.
#include <fmt/format.h>

#include "vgpu/observe/check/cluster_checker.h"

namespace tessera::vgpu::check {

void ClusterChecker::set_cure(Finding& finding, const std::string& cure, const std::string& where) {
  finding.hint = cure + " " + where;
  finding.cure = cure;
  finding.cure_at = CureAt::kBetween;
}

// Returns the change that fixes a race if made anywhere between the accesses; "" if there is none.
std::string ClusterChecker::cure_for_race(const Guest& guest, const Past& past, const Place& later,
                                          const Place& earlier) const {
  if (left_behind(past)) return "";
  if (agents_.is_agent(past.entity)) {
    switch (agents_.trace(past.entity).kind) {
      case AgentKind::kCopyAsync:
        return "wait for the copy (cp.async.wait_group, then __syncthreads() where other threads' "
               "copies are meant)";
      case AgentKind::kMatrix:
        return "wait for the product (wgmma.wait_group in each of the four warps, then an arrival "
               "or barrier where others go on)";
      default:
        return "";
    }
  }
  const bool is_strong_pair = guest.reach != Reach::kNobody && is_strong(past.site);
  if (guest.agent || is_strong_pair || later.instruction == earlier.instruction) return "";
  return later.cta != earlier.cta ? "put a barrier of the cluster" : "put __syncthreads()";
}

void ClusterChecker::report_unordered(const Guest& guest, const Past& past) {
  if (!past.wrote && guest.clock->has_covered(past.entity, past.time)) {
    report_collective(guest, past);
  } else {
    report_race(guest, past);
  }
}

void ClusterChecker::report_collective(const Guest& guest, const Past& past) {
  Finding* finding = log_.note("collective-wgmma", Severity::kNote, guest.by.instruction,
                               instruction_of(past.site), guest.address);
  if (!finding) return;
  const Place later = place_of(guest), earlier = place_of(past, guest);
  fill(*finding, later, earlier);
  finding->message = capital(fmt::format(
      "{} {} what the wgmma of {} fetches for four warps, and only one of them has waited for it: "
      "this relies on wgmma being collective, which PTX does not promise",
      who(later, false), later.does, log_.line(earlier.instruction)));
  finding->hint = fmt::format(
      "nothing for Hopper, where a wgmma ends for its four warps at once; PTX asks for an arrival "
      "of each of them after its wgmma.wait_group (--strict-ptx makes this an error) {}",
      between(earlier, later));
}

void ClusterChecker::report_unmet_lane(const Guest& guest, const Past& past) {
  Finding* finding = log_.note("lockstep", Severity::kLockstep, guest.by.instruction,
                               instruction_of(past.site), guest.address);
  if (!finding) return;
  const Place later = place_of(guest), earlier = place_of(past, guest);
  fill(*finding, later, earlier);
  const int issuing =
      guest.copied_for >= 0 ? guest.copied_for : __builtin_ctz(guest.agent->issuer.mask);
  const int lane = lane_of(past.site);
  const std::string other = lane == issuing ? "another lane" : fmt::format("lane {}", lane);
  finding->message = capital(fmt::format(
      "{} {} {} that {} of {} {}; lane {} issues it without having met that lane, which is right "
      "only while the lanes of a warp run in step",
      who(later, false), later.does, name_of(guest.window), other, who(earlier, false),
      earlier.does, issuing));
  set_cure(*finding, "put __syncwarp()", between(earlier, later));
}

// Reports a `bar.sync 0` for all threads that some threads have skipped. The hardware tolerates it,
// because it does not count threads that have exited.
void ClusterChecker::report_skipped_barrier(const Actor& by) {
  if (!paths_.asks_all_threads(by.instruction)) return;
  Finding* finding =
      log_.note("skipped-barrier", Severity::kNote, by.instruction, by.instruction, 0);
  if (!finding) return;
  finding->has_address = false;
  const std::uint32_t ended = ended_[by.cta];
  finding->places = {log_.place({"waited at barrier 0", by.instruction, cta_index(first_, by.cta),
                                 static_cast<int>(by.warp), __builtin_ctz(by.mask)})};
  const std::string line = log_.line(by.instruction);
  finding->message = fmt::format(
      "{} {} never {} the __syncthreads() of {}: CUDA asks all threads of the block to reach it; "
      "it works here because {} ended",
      ended, ended == 1 ? "thread" : "threads", ended == 1 ? "reaches" : "reach", line,
      ended == 1 ? "that one has" : "those have");
  finding->hint = fmt::format(
      "let all threads of the block come to {}, and only those with work do what precedes "
      "and follows it",
      line);
}

// Copies of one line that the compiler made count as one place. Diverged lanes of one warp are
// another error, or use barrier.sync, which does not require convergence.
void ClusterChecker::report_split_barrier(const Actor& later, const Actor& earlier) {
  if (later.warp == earlier.warp || log_.are_alike(later.instruction, earlier.instruction)) return;
  const auto may_split = [&](const Actor& by) {
    return log_.form(by.instruction).starts_with("barrier.") &&
           log_.form(by.instruction).find(".aligned") == std::string_view::npos;
  };
  if (may_split(later) || may_split(earlier)) return;
  Finding* finding =
      log_.note("split-barrier", Severity::kNote, later.instruction, earlier.instruction, 0);
  if (!finding) return;
  const auto place = [&](const Actor& by) {
    return Place{"came to barrier 0", by.instruction, cta_index(first_, by.cta),
                 static_cast<int>(by.warp), __builtin_ctz(by.mask)};
  };
  fill(*finding, place(later), place(earlier));
  finding->message = fmt::format(
      "Warps {} and {} meet at barrier 0, but at different __syncthreads(), {} and {}: CUDA asks "
      "that all threads of a block take the same way to one",
      earlier.warp, later.warp, log_.line(earlier.instruction), log_.line(later.instruction));
  finding->hint =
      "put one __syncthreads() behind the branch; parts of a block that mean to meet from "
      "different "
      "code take a barrier of their own (bar.sync with a number and a count of threads)";
}

void ClusterChecker::report_heap_misuse(const Guest& guest, const std::string& misuse) {
  const Place place = place_of(guest);
  Finding* finding = log_.note("out-of-bounds", Severity::kError, place.instruction,
                               place.instruction, guest.address);
  if (!finding) return;
  finding->places = {log_.place(place)};
  finding->message = capital(fmt::format("{} {} {} bytes at {:#x}, {}", who(place, false),
                                         place.does, guest.bytes, guest.address, misuse));
  finding->hint =
      fmt::format("compare {} with what malloc() was asked for, and with where free() is",
                  log_.line(place.instruction));
}

void ClusterChecker::report_unstarted(const Guest& guest) {
  const std::uint32_t here = guest.by.instruction;
  Finding* finding = log_.note("unstarted-cta", Severity::kError, here, here, guest.address);
  if (!finding) return;
  finding->has_address = false;
  const Place place = place_of(guest);
  finding->places = {log_.place(place)};
  finding->message =
      capital(fmt::format("{} touches shared memory of CTA {}, which may not have started yet",
                          who(place, true), cta_index(first_, guest.owner)));
  finding->hint = fmt::format(
      "put a barrier of the cluster (arrive and wait) at the begin of the kernel, before {}",
      log_.line(here));
}

void ClusterChecker::report_read_only(const Guest& guest, const GlobalPast& writer) {
  const std::uint32_t here = guest.by.instruction, store = instruction_of(writer.past.site);
  Finding* finding = log_.note("stale-read-only", Severity::kError, here, store, guest.address);
  if (!finding) return;
  const Place later = place_of(guest);
  Place earlier;
  earlier.what = "wrote this global memory";
  earlier.instruction = store;
  const bool is_own_cluster = writer.cluster == cluster_;
  const bool by_agent = writer.past.entity >= ctas_ * warps_per_cta_;
  earlier.cta = by_agent ? writer.cluster
                         : cta_index(is_own_cluster ? first_ : writer.cluster,
                                     writer.past.entity / warps_per_cta_);
  if (!by_agent) {
    earlier.warp = static_cast<int>(writer.past.entity % warps_per_cta_);
    earlier.lane = lane_of(writer.past.site);
  }
  fill(*finding, later, earlier);
  finding->message = capital(fmt::format(
      "{} reads by the read-only path (ld.global.nc, __ldg, a texture) what {} has written in the "
      "same launch: it may get what was there before",
      who(later, false), log_.line(store)));
  finding->hint = fmt::format(
      "read it by an ordinary load at {}: no __ldg, and no const __restrict__ on a pointer to what "
      "the kernel writes",
      log_.line(here));
}

}  // namespace tessera::vgpu::check
