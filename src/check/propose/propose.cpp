#include "check/propose/propose.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <set>

#include "base/interrupt.h"
#include "base/status.h"
#include "check/propose/call_writer.h"
#include "check/propose/endings.h"
#include "check/propose/levels/limits.h"
#include "check/propose/shapes.h"

namespace tessera::checking {
namespace {

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

class Proposer {
 public:
  Proposer(const KernelFacts& kernel, const CallWords& given,
           const std::function<CheckPlan(const CallWords&)>& plan_of)
      : kernel_(kernel), given_(given), plan_of_(plan_of), writer_(kernel, given) {}

  Proposed run(const std::vector<Candidate>& candidates) {
    result_.reads_launch = std::any_of(candidates.begin(), candidates.end(),
                                       [](const auto& one) { return one.site != nullptr; });
    result_.refused = refused_of(candidates);
    for (const Candidate& candidate : candidates) {
      if (candidate.is_step || !candidate.refused.empty()) continue;
      if (result_.tried >= kMostTrials || spent_ > kMostInAll || is_late()) break;
      if (interrupted() || stopped_ > kMostStopped || !result_.given.empty()) break;
      if (refused_ > kMostRefused) break;
      if (is_in_doubt() && further_++ >= kMostFurther) break;
      if (accept(candidate)) break;
    }
    if (result_.call && !result_.call->is_fault) enlarge(candidates);
    look_for_fault(candidates);
    if (result_.call && !result_.call->is_fault) keep_allocated();
    return std::move(result_);
  }

 private:
  bool is_late() const { return processor_seconds() - began_ > kSecondsInAll; }

  // Whether findings may come from assumed numbers. For example, blocks store to the same elements
  // if the assumed width of a matrix is not a multiple of the block's width.
  bool is_in_doubt() const {
    return result_.call && !result_.call->found.empty() && !result_.call->call.assumed.empty();
  }
  // WHY no smaller block: with too few threads a race would disappear.
  bool may_replace(const Candidate& candidate) const {
    const Candidate& kept = result_.call->from;
    return product(candidate.grid) >= product(kept.grid) &&
           product(candidate.block) >= product(kept.block);
  }

  // Tries a candidate and may keep it, as the best so far. Returns whether the search may end.
  bool accept(Candidate candidate) {
    const bool is_whole = touched_ >= arrays_;
    if (candidate.shared < least_shared_ && !candidate.states_shared) {
      candidate.shared = least_shared_;
      candidate.tells_shared = false;
    }
    if (is_in_doubt() && is_whole && !may_replace(candidate)) return false;
    const bool is_own = is_programs_own(candidate);
    std::size_t faults = 0;
    if (is_own) seen_.insert(candidate.chain);
    std::optional<Trial> fault;  // with the first of the fills
    for (const Fills fills : all_fills_) {
      writer_.trial_bytes = kTrialBytes;
      std::optional<Trial> trial = tried(candidate, fills);
      if (trial) add_shared(candidate, fills, *trial);
      if (trial && leaves_arrays(*trial) && may_be_large(candidate)) {
        writer_.trial_bytes = kLargeTrialBytes;
        trial = tried(candidate, fills);
      }
      if (!trial) return false;
      if (!trial->finished) {
        faults += is_fault_of_kernel(*trial);
        if (!fault) fault = std::move(trial);
        continue;
      }
      std::size_t touched = 0, bytes = 0;
      bool writes = arrays_ == 0 || !kernel_.stores;
      for (const auto& [name, reach] : trial->reach) {
        touched += reach.read + reach.written != 0;
        bytes += std::max(reach.read, reach.written);
        writes |= reach.written != 0;
      }
      const bool reaches_more = !result_.call || touched > touched_;
      const bool replaces = is_in_doubt() && touched == touched_ && bytes >= reached_;
      if (!writes || (!reaches_more && !(replaces && may_replace(candidate)))) return false;
      std::optional<Proposal> proposal = verified(candidate, *trial, fills);
      if (!proposal) {
        faults += fault_under_checks_;
        if (!fault) fault = std::move(trial);
        continue;
      }
      if (!reaches_more && !proposal->found.empty()) return false;
      take(std::move(*proposal), *trial, fills);
      touched_ = touched;
      reached_ = bytes;
      if (fills == Fills::kRepeated && has_integers()) take_places_given_once(candidate);
      return touched >= trial->reach.size() && !is_in_doubt();
    }
    return is_own && faults == all_fills_.size() && adopt_fault(candidate, *fault);
  }

  void take(Proposal proposal, const Trial& trial, Fills fills) {
    result_.call = std::move(proposal);
    reach_ = trial.reach;
    fills_ = fills;
  }

  // If the call has findings, tries an input without repeated indices: stores to distinct places.
  void take_places_given_once(const Candidate& candidate) {
    if (result_.call->found.empty() || has_update_) return;
    const std::optional<Trial> trial = tried(candidate, Fills::kShuffled);
    if (!trial || !trial->finished) return;
    std::optional<Proposal> proposal = verified(candidate, *trial, Fills::kShuffled);
    if (proposal && proposal->found.empty()) {
      take(std::move(*proposal), *trial, Fills::kShuffled);
    }
  }

  // Whether the candidate is the launch that the program makes: all values known, none changed.
  bool is_programs_own(const Candidate& candidate) const {
    return candidate.site != nullptr && candidate.changed.empty() && candidate.is_certain &&
           candidate.tells_grid && candidate.tells_block && candidate.states_shared &&
           writer_.words_of(candidate, Fills::kZeros, nullptr).assumed.empty();
  }

  // Tries the program's own launch: a launch with smaller values may hide a fault.
  void look_for_fault(const std::vector<Candidate>& candidates) {
    if (result_.call && (result_.call->is_fault || is_programs_own(result_.call->from))) return;
    for (const Candidate& candidate : candidates) {
      if (interrupted() || is_late() || !result_.given.empty()) return;
      if (seen_.size() >= kMostOwn || !is_programs_own(candidate)) continue;
      if (!seen_.insert(candidate.chain).second) continue;
      std::optional<Trial> first;
      for (const Fills fills : all_fills_) {
        std::optional<Trial> trial;
        for (const std::int64_t bytes : {kTrialBytes, kLargeTrialBytes}) {
          writer_.trial_sizes.clear();
          writer_.trial_bytes = bytes;
          trial = tried(candidate, fills);
          if (!trial || !leaves_arrays(*trial)) break;
        }
        if (!trial || !is_fault_of_kernel(*trial)) {
          first.reset();
          break;
        }
        if (!first) first = std::move(trial);
      }
      if (first && adopt_fault(candidate, *first)) return;
    }
  }

  // Takes the program's own launch as the result if it faults whatever the integers are. Arrays get
  // the extents reached before the fault, or larger extents if the fault needs them.
  bool adopt_fault(const Candidate& candidate, Trial trial) {
    for (auto& [name, reach] : trial.reach) {
      if (reach.read == 0) reach.written = std::max<std::uint64_t>(reach.written, 1);  // an output
    }
    writer_.fills = Fills::kRepeated;
    for (const Trial* extents : std::initializer_list<const Trial*>{&trial, nullptr}) {
      writer_.filled.clear();
      for (bool more = true; more;) {
        CallWords words = writer_.words_of(candidate, Fills::kInputs, extents);
        const CheckResult checked = checked_once(plan_of_(words), kSecondsOfRun);
        more = fill_what_is_read(checked);
        if (more || !is_fault_of_kernel(checked)) continue;
        result_.call = Proposal{std::move(words), candidate, names_of(checked), {}};
        result_.call->is_fault = true;
        return true;
      }
    }
    return false;
  }

  // Tries ever larger values, up to the program's own, as far as the cost of checking allows.
  void enlarge(const std::vector<Candidate>& candidates) {
    int failed = 0;
    for (int level = result_.call->from.level - 1; level >= 0 && failed < kMostFailed; --level) {
      const Candidate& from = result_.call->from;
      const auto next = std::find_if(candidates.begin(), candidates.end(), [&](const auto& one) {
        return one.chain == from.chain && one.level == level;
      });
      if (from.chain < 0 || interrupted()) return;
      if (next == candidates.end()) continue;  // this level would have the same grid
      const double more = threads_of(*next) / threads_of(from);
      const double next_cost = cost_ * std::max(more, growth_);
      if (next_cost > kMostOfLargest || spent_ + next_cost > kMostInAll || is_late()) return;
      failed = accept_larger(*next) ? 0 : failed + 1;
    }
  }

  // If the kernel reaches beyond the program's allocations, tries arrays of the allocated lengths.
  void keep_allocated() {
    const Candidate from = result_.call->from;
    std::vector<std::string> overruns = writer_.overruns(from, {.reach = reach_});
    if (overruns.empty() || (has_integers() && shortened(true))) return;
    if (has_integers()) overruns = those_with_zeros(from, overruns);
    result_.call->overruns = overruns;
    if (overruns.empty() || !from.keeps_multiples || !result_.call->call.assumed.empty()) return;
    result_.call->is_short = shortened(false);
  }

  // Tries arrays of the allocated lengths. Takes the call if being in bounds equals `stays`.
  bool shortened(bool stays) {
    const Trial trial{.reach = reach_};
    writer_.keeps_allocated = true;
    CallWords words = writer_.words_of(result_.call->from, fills_used_, &trial);
    writer_.keeps_allocated = false;
    const CheckResult checked = checked_once(plan_of_(words), kSecondsOfRun);
    const std::vector<std::string> found = names_of(checked);
    const bool leaves = std::find(found.begin(), found.end(), "out-of-bounds") != found.end();
    if (leaves == stays || (stays && !all_finished(checked))) return false;
    result_.call->call = std::move(words);
    result_.call->found = found;
    return true;
  }

  bool has_integers() const { return all_fills_.size() > 1; }

  // Returns the overruns that also happen with zeros: an overrun that only made-up indices cause
  // says nothing about a kernel. Takes a call with zeros if it has no more overruns.
  std::vector<std::string> those_with_zeros(const Candidate& from,
                                            const std::vector<std::string>& overruns) {
    for (const auto& [name, reach] : reach_) {
      const auto bytes = static_cast<std::int64_t>(std::max(reach.read, reach.written));
      writer_.trial_sizes[name] = std::max(kTrialBytes, 4 * bytes);
    }
    const std::optional<Trial> zeros = tried(from, Fills::kZeros);
    if (zeros && leaves_arrays(*zeros)) return overruns;
    if (!zeros || !zeros->finished) return {};
    const std::vector<std::string> still = writer_.overruns(from, *zeros);
    for (const Fills fills : {Fills::kRows, Fills::kZeros}) {
      const std::optional<Trial> trial = tried(from, fills);
      if (!trial || !trial->finished) continue;
      if (writer_.overruns(from, *trial).size() > still.size()) continue;
      std::optional<Proposal> proposal = verified(from, *trial, fills);
      if (!proposal) continue;
      take(std::move(*proposal), *trial, fills);
      break;
    }
    return still;
  }

  // Whether the candidate, which has larger values, becomes the call.
  bool accept_larger(Candidate candidate) {
    const std::int64_t shared = result_.call->from.shared;
    if (!result_.call->from.tells_shared && candidate.shared < shared) {
      candidate.shared = shared;
      candidate.tells_shared = false;
    }
    for (const std::int64_t times : {4, 16}) {
      std::int64_t all = 0;
      for (const auto& [name, reach] : reach_) {
        const auto bytes = static_cast<std::int64_t>(std::max(reach.read, reach.written));
        all += writer_.trial_sizes[name] = std::max(kTrialBytes, bytes * times);
      }
      if (all > kMostBytes) return false;
      const std::optional<Trial> trial = tried(candidate, fills_);
      if (trial && !trial->finished && leaves_arrays(*trial)) continue;
      if (!trial || !trial->finished) return false;
      const double before = cost_;
      std::optional<Proposal> proposal = verified(candidate, *trial, fills_);
      if (!proposal) return false;
      growth_ = before > kLeastCost ? cost_ / before : 1;
      result_.call = std::move(proposal);
      reach_ = trial->reach;
      return true;
    }
    return false;
  }

  // Tries again with more dynamic shared memory if the amount is too small and unknown.
  void add_shared(Candidate& candidate, Fills fills, Trial& trial) {
    if (!kernel_.has_dynamic_shared || !given_.shared.empty() || more_shared_ >= kMostShared)
      return;
    if (candidate.states_shared) return;
    for (const std::int64_t more : kMoreShared) {
      if (trial.finished || trial.message.find("in shared memory") == std::string::npos) return;
      if (more <= candidate.shared) continue;
      Candidate larger = candidate;
      larger.shared = more;
      larger.tells_shared = false;
      more_shared_ += more == kMoreShared[0];
      const std::optional<Trial> again = tried(larger, fills);
      if (!again) return;
      const bool is_enough = again->message.find("in shared memory") == std::string::npos;
      if (!is_enough) continue;
      candidate = larger;
      trial = *again;
      least_shared_ = more;
    }
  }

  // WHY few large trials: each trial of a kernel that is out of bounds fills all arrays.
  bool may_be_large(const Candidate& candidate) {
    return candidate.site != nullptr && large_trials_++ < kMostLargeTrials;
  }

  std::optional<Trial> tried(const Candidate& candidate, Fills fills) {
    ++result_.tried;
    try {
      Trial trial = try_call(plan_of_(writer_.words_of(candidate, fills, nullptr)), kMostOfTrial,
                             kSecondsOfRun);
      spent_ += static_cast<double>(trial.instructions);
      if (!trial.finished && result_.first.empty()) result_.first = first_line(trial);
      stopped_ += trial.fault == "stopped";
      note_refusal(wants_map(trial) ? trial.message : "");
      return trial;
    } catch (const StatusError& error) {
      if (result_.first.empty()) result_.first = error.status().message;
      if (blames_what_is_given(given_, error.status().message))
        result_.given = error.status().message;
      note_refusal(error.status().message);
      return std::nullopt;
    }
  }

  // Counts successive refusals for one reason, such as an instruction that is not implemented. A
  // reason that repeats would end every further call, too.
  void note_refusal(const std::string& why) {
    refused_ = why.empty() ? 0 : why == refusal_ ? refused_ + 1 : 1;
    refusal_ = why;
  }
  // Runs the call under checks, with arrays of the extents that the trial has shown. Outputs are
  // filled only after a run has shown that the kernel reads them before it writes them.
  std::optional<Proposal> verified(const Candidate& candidate, const Trial& trial, Fills fills) {
    if (!result_.call || result_.call->from.chain != candidate.chain) writer_.filled.clear();
    writer_.fills = fills;
    for (int pass = 0; pass < 3; ++pass) {
      CallWords words = writer_.words_of(candidate, pass == 2 ? fills : Fills::kInputs, &trial);
      CheckResult checked;
      try {
        checked = checked_once(plan_of_(words), kSecondsOfRun);
      } catch (const StatusError& error) {
        if (result_.first.empty()) result_.first = error.status().message;
        return std::nullopt;
      }
      const double cost = instructions_of(checked);
      spent_ += cost;
      const bool finished = all_finished(checked);
      fault_under_checks_ = is_fault_of_kernel(checked);
      const bool more = pass < 2 && fill_what_is_read(checked);
      if (!finished && !checked.findings.empty() && result_.first.empty()) {
        result_.first = checked.findings[0].finding.check;
      }
      if (!finished && pass == 1) continue;
      if (more || (!finished && pass == 0)) continue;
      if (!finished) return std::nullopt;
      cost_ = cost;
      has_update_ = finds_update(checked);
      fills_used_ = pass == 2 ? fills : Fills::kInputs;
      return Proposal{std::move(words), candidate, names_of(checked), {}};
    }
    return std::nullopt;
  }

  // Marks each array that is read before it is written, to fill it. Returns whether a mark is new.
  bool fill_what_is_read(const CheckResult& checked) {
    bool more = false;
    for (const std::string& name : read_first(checked)) more |= writer_.filled.insert(name).second;
    return more;
  }

  const KernelFacts& kernel_;
  const CallWords& given_;
  const std::function<CheckPlan(const CallWords&)>& plan_of_;
  CallWriter writer_;
  const double began_ = processor_seconds();
  const std::vector<Fills> all_fills_ = fills_for(kernel_);
  std::string refusal_;
  std::set<int> seen_;  // chains whose unchanged launch was tried
  bool fault_under_checks_ = false, has_update_ = false;
  int large_trials_ = 0, stopped_ = 0, refused_ = 0, more_shared_ = 0, further_ = 0;
  std::int64_t least_shared_ = 0;  // with fewer bytes the kernel is out of bounds
  const std::size_t arrays_ = arrays_of(kernel_);
  std::size_t touched_ = 0, reached_ = 0;
  std::map<std::string, ArrayReach> reach_;  // reach in the call that is kept
  Fills fills_ = Fills::kRepeated, fills_used_ = Fills::kInputs;
  // spent_: warp instructions of all runs. cost_: of the kept call. growth_: last factor of cost_.
  double spent_ = 0, cost_ = 0, growth_ = 1;
  Proposed result_;
};

}  // namespace

Proposed propose(const HostSource& source, const KernelFacts& kernel, const CallWords& given,
                 const std::function<CheckPlan(const CallWords&)>& plan_of) {
  return Proposer(kernel, given, plan_of).run(candidates_of(source, kernel));
}

}  // namespace tessera::checking
