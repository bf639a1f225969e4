#include "lab/model/sm_model.h"

#include <algorithm>
#include <vector>

namespace tessera::lab {
namespace {

constexpr int kParts = 4;                  // HW: an SM has four partitions with a scheduler each
constexpr int kWarmUp = 3, kMeasured = 6;  // iterations
constexpr int kScoreboards = 6;

struct Warp {
  int cta = 0;
  std::size_t step = 0;
  double ready = 0;  // may issue from then on
  std::array<double, kScoreboards> free{};
  bool at_barrier = false;
};

// Returns the cycles for which an instruction occupies its unit, in the order of Unit. The memory
// path and barriers have rules of their own.
std::array<double, kUnits> holds_of(const arch::Costs& costs) {
  return {costs.fma,     costs.imad,    costs.alu, costs.fp64, costs.tensor,
          costs.uniform, costs.control, 0,         1};
}

// Returns the unit that an instruction occupies. HW: integer multiply-adds delay FFMAs (ffma_imad
// in results/calibration/h200_calibration.json).
constexpr Unit occupied_by(Unit unit) { return unit == Unit::kImad ? Unit::kFma : unit; }

class Sm {
 public:
  Sm(const LoopCode& code, const Residency& residency, double l1_hits, const arch::Costs& costs)
      : code_(code),
        residency_(residency),
        l1_hits_(l1_hits),
        costs_(costs),
        holds_(holds_of(costs)) {
    const int total = residency.ctas * residency.warps;
    warps_.resize(total);
    arrived_.resize(residency.ctas);
    for (int w = 0; w < total; ++w) {
      warps_[w].cta = w / residency.warps;
      // WHY the lag: CTAs do not start together. With no lag all CTAs would wait at the same time.
      warps_[w].ready = warps_[w].cta * costs.cta_lag;
      parts_[w % kParts].warps.push_back(w);
    }
  }

  LoopTime run() {
    while (end_ == 0) {
      double next = 1e300;
      for (Part& part : parts_) next = std::min(next, turn(part));
      now_ = std::max(now_ + 1, next);
    }
    LoopTime time;
    time.cycles = (end_ - begin_) / kMeasured;
    for (int u = 0; u < kUnits; ++u) time.busy[u] = (busy_[u] - busy_before_[u]) / kMeasured;
    time.issue = (issued_ - issued_before_) / kMeasured;
    time.misses = (missing_ - missing_before_) / kMeasured;
    return time;
  }

 private:
  struct Part {
    std::vector<int> warps;
    std::array<double, kUnits> unit_free{};
    double issue_free = 0;
    int last = -1;
  };

  double earliest(const Part& part, const Warp& warp) const {
    const Step& step = code_.steps[warp.step];
    double when = std::max(
        {warp.ready, part.issue_free, part.unit_free[static_cast<int>(occupied_by(step.unit))]});
    for (int s = 0; s < kScoreboards; ++s) {
      if (step.wait_mask >> s & 1) when = std::max(when, warp.free[s]);
    }
    if (step.unit == Unit::kMemory) when = std::max(when, memory_free_ - costs_.memory_queue);
    return when;
  }

  // If a warp is ready, lets it issue. Returns when the partition should be examined again.
  double turn(Part& part) {
    double soonest = 1e300;
    int chosen = -1;
    for (int index : part.warps) {
      const Warp& warp = warps_[index];
      if (warp.at_barrier) continue;
      const double when = earliest(part, warp);
      soonest = std::min(soonest, when);
      // The warp that issued last continues while it can; otherwise the oldest one issues.
      if (when <= now_ && (chosen < 0 || index == part.last)) chosen = index;
    }
    if (chosen < 0) return soonest;
    part.last = chosen;
    issue(part, warps_[chosen]);
    return now_ + 1;
  }

  void issue(Part& part, Warp& warp) {
    const Step& step = code_.steps[warp.step];
    const double held = holds_[static_cast<int>(step.unit)] + step.port_bubbles;
    const int unit = static_cast<int>(occupied_by(step.unit));
    issued_ += 1;
    part.issue_free = now_ + 1 + step.port_bubbles;
    part.unit_free[unit] = now_ + held;
    busy_[unit] += held / kParts;
    warp.ready = now_ + step.stall + (step.branches ? costs_.branch : 0);
    if (step.unit == Unit::kMemory) access(step, warp);
    if (step.unit == Unit::kBarrier) arrive(warp);
    if (step.unit != Unit::kMemory && step.write_scoreboard < kScoreboards) {
      hold(warp, step.write_scoreboard, now_ + costs_.scoreboard);
    }
    advance(warp);
  }

  static void hold(Warp& warp, int scoreboard, double until) {
    if (scoreboard >= kScoreboards) return;
    warp.free[scoreboard] = std::max(warp.free[scoreboard], until);
  }

  void access(const Step& step, Warp& warp) {
    const double missed = step.path == MemoryPath::kGlobal ? 1 - l1_hits_ : 0;
    const double taken = std::max(1.0, step.wavefronts);
    memory_free_ = std::max(memory_free_, now_) + taken;
    busy_[static_cast<int>(Unit::kMemory)] += taken;
    double value = memory_free_ + costs_.shared_latency;
    if (step.path == MemoryPath::kGlobal) value = fetch(step, missed);
    hold(warp, step.write_scoreboard, value);
    hold(warp, step.read_scoreboard, now_ + costs_.store_release + taken);
  }

  // Returns when the value of a global request arrives.
  double fetch(const Step& step, double missed) {
    const double queue = costs_.missed_request[step.width];
    const double transfer = step.sectors / costs_.l2_sectors;
    const double taken = missed * std::max(queue, transfer);
    missing_ += taken;
    misses_free_ = std::max(misses_free_, memory_free_) + taken;
    miss_debt_ += missed;
    if (miss_debt_ < 0.5) return memory_free_ + costs_.l1_latency;
    miss_debt_ -= 1;
    return misses_free_ + costs_.miss_latency;
  }

  void arrive(Warp& warp) {
    warp.at_barrier = true;
    // HW: an SM processes arrivals at barriers one after the other.
    barrier_free_ = std::max(barrier_free_, now_) + costs_.barrier_arrival;
    if (++arrived_[warp.cta] < residency_.warps) return;
    arrived_[warp.cta] = 0;
    for (Warp& other : warps_) {
      if (other.cta != warp.cta) continue;
      other.at_barrier = false;
      other.ready = std::max(other.ready, barrier_free_ + costs_.barrier);
    }
  }

  void advance(Warp& warp) {
    if (++warp.step < code_.steps.size()) return;
    warp.step = 0;
    ++completed_;
    if (completed_ == kWarmUp * warps_.size()) {
      begin_ = now_;
      busy_before_ = busy_;
      issued_before_ = issued_;
      missing_before_ = missing_;
    }
    if (completed_ == (kWarmUp + kMeasured) * warps_.size()) end_ = now_;
  }

  const LoopCode& code_;
  const Residency& residency_;
  double l1_hits_;
  const arch::Costs& costs_;
  const std::array<double, kUnits> holds_;
  std::vector<Warp> warps_;
  std::vector<int> arrived_;
  std::array<Part, kParts> parts_;
  double now_ = 0, memory_free_ = 0, misses_free_ = 0, barrier_free_ = 0, miss_debt_ = 0;
  double begin_ = 0, end_ = 0, issued_ = 0;
  double issued_before_ = 0, missing_ = 0, missing_before_ = 0;
  std::array<double, kUnits> busy_{}, busy_before_{};
  std::size_t completed_ = 0;  // iterations of all warps
};

}  // namespace

LoopTime run_loop(const LoopCode& code, const Residency& residency, double l1_hits,
                  const arch::Costs& costs) {
  if (code.is_empty()) return {};
  return Sm(code, residency, l1_hits, costs).run();
}

}  // namespace tessera::lab
