// A warp runs to its next barrier before another warp starts. If a barrier is missing, warps see
// memory in states that never occur while warps run in step, so the result is wrong in every run.
#include "vgpu/exec/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace tessera::vgpu {
namespace {

// splitmix64: returns the next number of a pseudo-random sequence.
std::uint64_t next_random(std::uint64_t& state) {
  std::uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

// After this many rounds in which every warp reached a wait, checks whether anything still changes.
constexpr std::uint32_t kRoundsBetweenLooks = 1024;

// WHY: a wait loop without a counter returns to an earlier state long before this many checks. So
// if the state still changes, the loop has a counter and may give up by itself. It gets this many
// instructions to do so.
constexpr std::uint64_t kLooksBeforeFreePolls = 1024;
constexpr std::uint64_t kInstructionsOfFreePolls = 1 << 23;

}  // namespace

Cluster::Cluster(const LaunchContext& context, Observer* observer)
    : AsyncCluster(context, observer) {
  memory_.ctas = context.cluster[0] * context.cluster[1] * context.cluster[2];
  for (std::uint32_t rank = 0; rank < memory_.ctas; ++rank) ctas_.emplace_back(*this, rank);
  for (std::uint32_t rank = 0; rank < memory_.ctas; ++rank) {
    memory_.shared[rank] = ctas_[rank].lanes().shared;
    for (std::uint32_t w = 0; w < ctas_[rank].warps(); ++w)
      in_order_.push_back(&ctas_[rank].warp(w));
  }
  warps_ = in_order_;
}

// Clusters are numbered like CTAs, with x running fastest; so are the CTAs of a cluster, by rank.
void Cluster::place_ctas(std::uint64_t index) {
  std::uint32_t first[3];
  for (int d = 0; d < 3; ++d) {
    const std::uint32_t clusters = context_.grid[d] / context_.cluster[d];
    first[d] = static_cast<std::uint32_t>(index % clusters) * context_.cluster[d];
    index /= clusters;
  }
  for (std::uint32_t rank = 0; rank < memory_.ctas; ++rank) {
    const std::uint32_t* cluster = context_.cluster;
    const std::uint32_t inside[3] = {rank % cluster[0], rank / cluster[0] % cluster[1],
                                     rank / cluster[0] / cluster[1]};
    ctas_[rank].start({first[0] + inside[0], first[1] + inside[1], first[2] + inside[2]});
  }
}

void Cluster::start(std::uint64_t index) {
  clock_ = taken_ = 0;
  for (Cta& cta : ctas_) taken_ -= cta.executed().all;
  random_ = context_.observation.warp_order_seed ^ index * 0x2545f4914f6cdd1d;
  warps_ = in_order_;
  memory_.live = (1u << memory_.ctas) - 1;
  barrier_ = {};
  barrier_.live = memory_.ctas * ctas_[0].threads();
  mbarriers_.clear();
  transfers_.clear();
  agents_ = 0;
  watch_.forget();
  polls_freely_ = false;
  place_ctas(index);
  if (observer_) observer_->cluster_begins(ctas_[0].index(), memory_.ctas);
  for (Warp* warp : warps_) warp->start();
}

Cluster::Progress Cluster::run() {
  while (memory_.live != 0) {
    if (context_.observation.warp_order_seed != 0) shuffle_warps();
    long_turn_ = false;
    if (!run_warps()) {
      if (finish_late_operation()) continue;
      const bool waits_in_vain = look() == RepeatWatch::Verdict::kRepeats;
      if (!waits_in_vain && wake_waits()) {
        if (watch_.looks() > kLooksBeforeFreePolls) poll_freely();
        continue;
      }
      if (!waits_in_vain || executed_.loads == loads_at_wake_) {
        fault(FaultKind::kDeadlock, "deadlock: every warp waits");
      }
      wake_waits();
      return Progress::kIdle;
    }
    if (!long_turn_ && ++rounds_ % kRoundsBetweenLooks != 0) continue;
    check_limits();
    const RepeatWatch::Verdict verdict = look();
    takes_long_ = verdict == RepeatWatch::Verdict::kTakesLong;
    if (polls_freely_ && verdict != RepeatWatch::Verdict::kRepeats) {
      takes_long_ = executed_.all - freely_since_ > kInstructionsOfFreePolls;
      if (!takes_long_) continue;
      return Progress::kIdle;
    }
    if (verdict == RepeatWatch::Verdict::kMoves || finish_late_operation()) continue;
    return Progress::kIdle;
  }
  return finish();
}

Cluster::Progress Cluster::finish() {
  transfers_.deliver_all();
  check_limits();
  if (observer_) observer_->cluster_ends();
  return Progress::kFinished;
}

// Runs each warp that can run, once. Returns whether there was any.
bool Cluster::run_warps() {
  bool any = false;
  for (Warp* warp : warps_) {
    if (!warp->can_run()) continue;
    warp->run();
    any = true;
  }
  return any;
}

// Under the lazy schedule: completes one asynchronous operation that some warp may wait for.
// Returns whether there was one.
bool Cluster::finish_late_operation() {
  const bool by_seed = context_.observation.warp_order_seed != 0;
  if (transfers_.deliver_one(by_seed ? next_random(random_) : 0)) return true;
  for (Warp* warp : warps_) {
    if (warp->copies().arrive_late(*warp)) return true;
  }
  return false;
}

// Makes all waits for mbarriers return false. Returns whether there were any.
bool Cluster::wake_waits() {
  loads_at_wake_ = executed_.loads;
  bool any = false;
  for (Warp* warp : warps_) any |= warp->wake_mbarrier_waits();
  return any;
}

// Checks whether anything changes. Stores and changes of mbarriers are not visible in the hash
// `state`, so they are counted.
RepeatWatch::Verdict Cluster::look() {
  executed_ = {};
  std::uint64_t state = barrier_.arrived + (std::uint64_t{barrier_.live} << 20);
  for (Cta& cta : ctas_) {
    const Cta::Executed more = cta.executed();
    executed_.all += more.all;
    executed_.stores += more.stores;
    executed_.loads += more.loads;
    state = state * 31 + cta.state();
  }
  const RepeatWatch::Verdict verdict = watch_.look(executed_.stores + mbarriers_.changes(), state);
  if (watch_.looks() <= 1) polls_freely_ = false;  // something has happened
  return verdict;
}

void Cluster::poll_freely() {
  if (!polls_freely_) freely_since_ = executed_.all;
  polls_freely_ = true;
}

bool Cluster::had_effects() {
  std::uint64_t effects = mbarriers_.changes();
  for (Cta& cta : ctas_) effects += cta.executed().stores;
  return std::exchange(effects_, effects) != effects || memory_.live == 0;
}

std::uint64_t Cluster::clock() {
  std::uint64_t now = taken_;
  for (Cta& cta : ctas_) now += cta.executed().all;
  return clock_ = std::max(clock_ + 1, now);
}

void Cluster::check_limits() {
  const Observation& observation = context_.observation;
  if (observation.stop && observation.stop->load(std::memory_order_relaxed)) {
    fault(FaultKind::kStopped, "stopped: the kernel was still running");
  }
  if (observation.instruction_budget == 0) return;
  std::uint64_t all = 0;
  for (Cta& cta : ctas_) all += cta.executed().all;
  const std::uint64_t more = all - std::exchange(spent_, all);
  if (context_.spent->fetch_add(more) + more <= observation.instruction_budget) return;
  fault(FaultKind::kStopped, fmt::format("stopped: the budget of {} warp instructions is used up",
                                         observation.instruction_budget));
}

bool Cluster::is_spurious() {
  return context_.observation.warp_order_seed != 0 && next_random(random_) % 4 == 0;
}

void Cluster::shuffle_warps() {
  for (std::size_t i = warps_.size(); i > 1; --i) {
    std::swap(warps_[i - 1], warps_[next_random(random_) % i]);
  }
}

void Cluster::check_barrier() {
  if (barrier_.arrived == 0 || barrier_.arrived < barrier_.live) return;
  barrier_.arrived = 0;
  for (Warp* warp : warps_) warp->release_from_cluster();
}

// The barrier of the cluster waits only for threads that have not exited.
void Cluster::threads_exit(std::uint32_t count, std::uint32_t arrived) {
  barrier_.live -= count;
  barrier_.arrived -= arrived;
  check_barrier();
}

void Cluster::cta_finished(std::uint32_t rank) { memory_.live &= ~(1u << rank); }

std::vector<InstructionCounter> Cluster::take_counts() {
  spent_ = effects_ = 0;
  for (Cta& cta : ctas_) taken_ += cta.executed().all;
  watch_.forget();
  std::vector<InstructionCounter> counts = ctas_[0].take_counts();
  for (std::uint32_t rank = 1; rank < memory_.ctas; ++rank) {
    const std::vector<InstructionCounter> more = ctas_[rank].take_counts();
    for (std::size_t i = 0; i < more.size(); ++i) {
      counts[i].warp += more[i].warp;
      counts[i].thread += more[i].thread;
    }
  }
  return counts;
}

}  // namespace tessera::vgpu
