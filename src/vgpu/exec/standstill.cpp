// Reports on a cluster that makes no progress: which threads wait, and
// at which barrier object.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "vgpu/exec/cluster.h"

namespace tessera::vgpu {
namespace {

struct Waited {
  const Cta* cta = nullptr;
  std::uint32_t offset = 0;
  const Mbarrier* object = nullptr;
  std::vector<const Warp*> warps;  // warps that wait; polling warps are left out
  MbarrierWaiter first;            // the first of `warps`
};

void add_waited(Cluster& cluster, Cta& cta, std::vector<Waited>& all) {
  for (const auto& [offset, object] : cluster.mbarriers().waited_for(cta.rank())) {
    Waited waited{&cta, offset, object, {}, {}};
    for (const MbarrierWaiter& waiter : object->waiters) {
      const Warp& warp = cta.warp(waiter.warp);
      if (!warp.may_stand_at(offset)) continue;
      if (waited.warps.empty() || waiter.warp < waited.first.warp) waited.first = waiter;
      waited.warps.push_back(&warp);
    }
    if (!waited.warps.empty()) all.push_back(std::move(waited));
  }
}

// Whether the first waiter waits, by parity, for a phase that ended so long ago that parity cannot
// show it. Then the waiters after it wait for later phases.
bool was_overtaken(const Waited& waited) { return waited.object->phase >= waited.first.meant + 2; }

int suspicion_of(const Waited& waited) {
  if (some_came(*waited.object)) return 3;
  if (was_overtaken(waited)) return 2;
  return waited.object->phase == 0 ? 1 : 0;  // phase 0: nobody ever arrived
}

// Returns the object where the bug is most likely; null if no warp waits at an object.
const Waited* most_suspicious(const std::vector<Waited>& all) {
  const Waited* most = nullptr;
  for (const Waited& waited : all) {
    if (!most || suspicion_of(waited) > suspicion_of(*most)) most = &waited;
  }
  return most;
}

std::string of_cta(const Waited& waited) {
  return waited.cta->cluster().size() == 1 ? "" : fmt::format(" of CTA {}", waited.cta->index());
}

// Returns "warps 1, 2 wait" or "warp 0 waits".
std::string who_waits(const Waited& waited) {
  std::vector<std::uint32_t> indices;
  for (const Warp* warp : waited.warps) indices.push_back(warp->index());
  std::sort(indices.begin(), indices.end());
  const bool one = indices.size() == 1;
  return fmt::format("{} {} {}", one ? "warp" : "warps", fmt::join(indices, ", "),
                     one ? "waits" : "wait");
}

// Describes the barrier object that blocks progress, and then the warps that wait for other
// objects.
std::string account_of(const Waited& culprit, const std::vector<Waited>& all) {
  const Mbarrier& object = *culprit.object;
  std::string text =
      fmt::format("; the barrier object at shared offset {}{} does not end its phase {}: {}",
                  culprit.offset, of_cta(culprit), object.phase, missing_at(object));
  if (was_overtaken(culprit)) {
    text += fmt::format(
        "; by parity warp {} waits for phase {}, and {} phases ended since: more "
        "arrivals may come than it was initialised for",
        culprit.first.warp, culprit.first.meant, object.phase - culprit.first.meant);
  }
  if (all.size() == 1) return text;
  text += "; " + who_waits(culprit) + " for it";
  for (const Waited& other : all) {
    if (&other == &culprit) continue;
    text += fmt::format(", {} for the one at {}{} ({})", who_waits(other), other.offset,
                        of_cta(other), missing_at(*other.object));
  }
  return text;
}

// The word that the threads of a loop wait for, if no barrier object blocks them.
struct Spin {
  const Warp* warp = nullptr;
  Warp::SpinWord word;
};

std::optional<Spin> first_spin(const std::vector<Warp*>& warps) {
  for (const Warp* warp : warps) {
    if (warp->finished()) continue;
    if (const auto word = warp->spin_word()) return Spin{warp, *word};
  }
  return std::nullopt;
}

std::string remedy_for(const Spin& spin, const Kernel& kernel) {
  const InstructionInfo& info = kernel.instructions[spin.word.load->instruction];
  const std::string line = info.source_line > 0 ? fmt::format("line {}", info.source_line)
                                                : fmt::format("PTX line {}", info.ptx_line);
  const bool shared = spin.word.window == Window::kShared;
  return fmt::format(
      "{} waits for a word of {} memory to change, and no thread of this launch writes it any "
      "more: find who should have written it, and why it did not",
      line, shared ? "shared" : "global");
}

}  // namespace

// Whether each warp that has not exited is stopped by a wait, or tests a barrier object again and
// again.
bool Cluster::all_wait_at_objects() {
  std::vector<Waited> all;
  for (Cta& cta : ctas_) add_waited(*this, cta, all);
  if (all.empty()) return false;
  for (const Warp* warp : in_order_) {
    if (warp->finished() || !warp->can_run()) continue;
    const bool waits = std::any_of(all.begin(), all.end(), [&](const Waited& waited) {
      return std::find(waited.warps.begin(), waited.warps.end(), warp) != waited.warps.end();
    });
    if (!waits) return false;
  }
  return true;
}

void Cluster::fault_idle(const std::string& why) {
  if (all_wait_at_objects()) fault(FaultKind::kDeadlock, "deadlock: every warp waits" + why);
  if (takes_long_) {
    fault(FaultKind::kEndless,
          "may be endless: the threads that run have stored nothing for millions of turns" + why);
  }
  fault(FaultKind::kDeadlock, "deadlock: the threads that run go round without an effect" + why,
        why.empty());
}

// Throws a fault that describes all objects for which threads wait. If the cluster has ended, the
// fault names no instruction.
void Cluster::fault(FaultKind kind, std::string text, bool all_run) {
  const Warp* first = nullptr;
  std::vector<Waited> all;
  std::string waits;
  for (Cta& cta : ctas_) {
    if (!(memory_.live >> cta.rank() & 1)) continue;
    if (!first) first = cta.first_unfinished();
    waits += cta.describe_waits();
    if (kind != FaultKind::kStopped) add_waited(*this, cta, all);
  }
  const Waited* culprit = most_suspicious(all);
  std::optional<Spin> spin;
  if (kind == FaultKind::kDeadlock && all_run && !culprit) spin = first_spin(in_order_);
  if (culprit) text += account_of(*culprit, all);
  text += waits;
  if (barrier_.arrived != 0) {
    text += fmt::format("\n  barrier of the cluster: {} of {} threads are there", barrier_.arrived,
                        barrier_.live);
  }
  try {
    if (culprit) {
      const MbarrierWaiter& waiter = culprit->first;
      ctas_[culprit->cta->rank()].warp(waiter.warp).fault(kind, text, *waiter.op, waiter.lane);
    }
    if (spin) {
      const auto& [load, lane, address, window] = spin->word;
      spin->warp->fault(kind, text, *load, lane, window == Window::kGlobal ? &address : nullptr);
    }
    if (first) first->fault_at_wait(kind, text);
  } catch (Fault& fault) {
    if (culprit) {
      fault.explain(places_of(*culprit->object, *context_.kernel), remedy_for(*culprit->object));
    }
    if (spin) fault.explain({}, remedy_for(*spin, *context_.kernel));
    throw;
  }
  FaultPlace place;
  place.kernel = context_.kernel->name;
  throw Fault(kind, text, place);
}

}  // namespace tessera::vgpu
