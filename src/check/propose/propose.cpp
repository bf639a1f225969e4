#include "check/propose/propose.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "base/interrupt.h"
#include "base/status.h"
#include "check/propose/call_writer.h"
#include "check/propose/shapes.h"

namespace tessera::checking {
namespace {

constexpr int kMostTrials = 80, kMostLargeTrials = 3, kMostStopped = 6, kMostRefused = 4,
              kMostShared = 4;
// For a call that finds something with numbers that nobody tells: others are tried instead.
constexpr int kMostFurther = 24;
// Warp instructions. WHY not seconds: proposals are the same on every machine, whatever else it
// does. Under checks about ten million take a second.
constexpr std::uint64_t kMostOfTrial = 16'000'000, kMostOfLargest = 8'000'000,
                        kMostInAll = 40'000'000;
constexpr double kLeastCost = 200'000;  // that tells how the costs grow
// For what is no instruction: large PTX is read anew for each trial. The second is of the
// processor.
constexpr double kSecondsOfRun = 30, kSecondsInAll = 8;
constexpr std::int64_t kMostBytes = 256LL << 20;  // of all arrays
constexpr int kMostFailed = 2;                    // larger launches, one after the other

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

class Proposer {
 public:
  Proposer(const KernelFacts& kernel, const CallWords& given,
           const std::function<CheckPlan(const CallWords&)>& plan_of)
      : kernel_(kernel), given_(given), plan_of_(plan_of), writer_(kernel, given) {}

  Proposed run(const std::vector<Candidate>& candidates) {
    for (const ParameterGuess& one : kernel_.parameters) {
      for (const FieldGuess& field : one.fields) {
        arrays_ += field.is_array;
        integers_ |= field.is_array && !is_float(field.type);
      }
      integers_ |= one.role == ParameterRole::kArray && !is_float(one.type);
      bytes_ |= one.role == ParameterRole::kArray && size_of(one.type) == 1;
      arrays_ += one.role == ParameterRole::kArray || one.role == ParameterRole::kPointers;
    }
    for (const Candidate& candidate : candidates) {
      if (candidate.is_step) continue;
      if (result_.tried >= kMostTrials || spent_ > kMostInAll || is_late()) break;
      if (interrupted() || stopped_ > kMostStopped || !result_.given.empty()) break;
      if (refused_ > kMostRefused) break;
      if (is_in_doubt() && further_++ >= kMostFurther) break;
      if (accept(candidate)) break;
    }
    if (result_.call) enlarge(candidates);
    if (result_.call) keep_allocated();
    return std::move(result_);
  }

 private:
  bool is_late() const { return processor_seconds() - began_ > kSecondsInAll; }

  // What is found may come from numbers that do not go together: a width that is no multiple of the
  // block's, and so blocks that store to the same elements.
  bool is_in_doubt() const {
    return result_.call && !result_.call->found.empty() && !result_.call->call.assumed.empty();
  }
  // WHY no smaller one: of too few threads no race would be left.
  bool may_replace(const Candidate& candidate) const {
    const Candidate& kept = result_.call->from;
    return product(candidate.grid) >= product(kept.grid) &&
           product(candidate.block) >= product(kept.block);
  }

  // Whether this is the call; a worse one may be kept.
  bool accept(Candidate candidate) {
    const bool is_whole = touched_ >= arrays_;
    if (candidate.shared < least_shared_) {
      candidate.shared = least_shared_;
      candidate.tells_shared = false;
    }
    if (is_in_doubt() && is_whole && !may_replace(candidate)) return false;
    for (const Fills fills : {Fills::kShuffled, Fills::kCounts, Fills::kZeros, Fills::kText}) {
      const bool is_of_integers = fills == Fills::kCounts || fills == Fills::kZeros;
      if ((is_of_integers && !integers_) || (fills == Fills::kText && !bytes_)) continue;
      writer_.trial_bytes = kTrialBytes;
      std::optional<Trial> trial = tried(candidate, fills);
      if (trial) add_shared(candidate, fills, *trial);
      if (trial && trial->fault == "out-of-bounds" && may_be_large(candidate)) {
        writer_.trial_bytes = kLargeTrialBytes;
        trial = tried(candidate, fills);
      }
      if (!trial) return false;
      if (!trial->finished) continue;
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
      if (!proposal) continue;
      if (!reaches_more && !proposal->found.empty()) return false;
      result_.call = std::move(proposal);
      touched_ = touched;
      reached_ = bytes;
      reach_ = trial->reach;
      fills_ = fills;
      return touched >= trial->reach.size() && !is_in_doubt();
    }
    return false;
  }

  // Towards the program's own values, as far as checking them takes no more than it may.
  void enlarge(const std::vector<Candidate>& candidates) {
    int failed = 0;
    for (int level = result_.call->from.level - 1; level >= 0 && failed < kMostFailed; --level) {
      const Candidate& from = result_.call->from;
      const auto next = std::find_if(candidates.begin(), candidates.end(), [&](const auto& one) {
        return one.chain == from.chain && one.level == level;
      });
      if (from.chain < 0 || interrupted()) return;
      if (next == candidates.end()) continue;  // it would be the same grid
      const double more = threads_of(*next) / threads_of(from);
      const double next_cost = cost_ * std::max(more, growth_);
      if (next_cost > kMostOfLargest || spent_ + next_cost > kMostInAll || is_late()) return;
      failed = accept_larger(*next) ? 0 : failed + 1;
    }
  }

  // The call with the program's own arrays, where the kernel reaches beyond them.
  void keep_allocated() {
    const Candidate& from = result_.call->from;
    Trial trial;
    trial.reach = reach_;
    const std::vector<std::string> overruns = writer_.overruns(from, trial);
    if (overruns.empty()) return;
    result_.call->overruns = overruns;
    if (!from.keeps_multiples || !result_.call->call.assumed.empty()) return;
    writer_.keeps_allocated = true;
    CallWords words = writer_.words_of(from, fills_used_, &trial);
    CheckPlan plan = plan_of_(words);
    plan.warp_orders = 1;
    plan.seconds = kSecondsOfRun;
    const CheckResult checked = run_check(plan, [](int, int) {});
    const bool leaves =
        std::any_of(checked.findings.begin(), checked.findings.end(),
                    [](const SeenFinding& seen) { return seen.finding.check == "out-of-bounds"; });
    if (!leaves) return;
    result_.call->call = std::move(words);
    result_.call->is_short = true;
    result_.call->found = names_of(checked);
  }

  static double threads_of(const Candidate& candidate) {
    return static_cast<double>(product(candidate.grid) * product(candidate.block));
  }

  // Whether this is the call now: the same as before, with larger values.
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
      if (trial && !trial->finished && trial->fault == "out-of-bounds") continue;
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

  // Once more with more dynamic shared memory, where that is too small and nobody tells how much.
  void add_shared(Candidate& candidate, Fills fills, Trial& trial) {
    if (!kernel_.has_dynamic_shared || !given_.shared.empty() || more_shared_ >= kMostShared)
      return;
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

  // WHY few: a kernel that is out of bounds anywhere costs a fill of all its arrays each time.
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
      if (blames_what_is_given(error.status().message)) result_.given = error.status().message;
      note_refusal(error.status().message);
      return std::nullopt;
    }
  }

  // An instruction that is not implemented, or an argument that no proposal has: every call ends
  // in the same way.
  void note_refusal(const std::string& why) {
    refused_ = why.empty() ? 0 : why == refusal_ ? refused_ + 1 : 1;
    refusal_ = why;
  }
  static bool wants_map(const Trial& trial) {
    return trial.message.find("no tensor map") != std::string::npos;
  }

  // Then every other call would be refused as well.
  bool blames_what_is_given(const std::string& message) const {
    const auto names = [&](const std::string& option, const std::string& text) {
      const std::string name = text.substr(0, text.find('='));
      return message.find(option + " is '" + name) != message.npos ||
             message.find(option + " " + name + " ") != message.npos;
    };
    const auto any = [&](const std::string& option, const std::vector<std::string>& texts) {
      return std::any_of(texts.begin(), texts.end(),
                         [&](const std::string& text) { return names(option, text); });
    };
    const auto shape = [&](const std::string& option, const std::string& text) {
      return !text.empty() && message.find(option + " ") != message.npos &&
             message.find("'" + text + "'") != message.npos;
    };
    return any("--arg", given_.arguments) || any("--array", given_.arrays) ||
           shape("--grid", given_.grid) || shape("--block", given_.block) ||
           shape("--cluster", given_.cluster) || shape("--shared", given_.shared);
  }

  static std::string first_line(const Trial& trial) {
    if (trial.fault == "stopped" || trial.message.empty()) return trial.fault;
    const std::string line = trial.message.substr(0, trial.message.find('\n'));
    if (!wants_map(trial)) return line;
    return line +
           "; a parameter takes one as NAME=tensormap(ARRAY, BOX), or behind a pointer as "
           "NAME=pointer(tensormap(ARRAY, BOX))";
  }

  // Runs the call under checks, with arrays of the extents that the trial has shown: first with
  // outputs that hold nothing, then with those that the kernel reads before it writes them.
  std::optional<Proposal> verified(const Candidate& candidate, const Trial& trial, Fills fills) {
    if (!result_.call || result_.call->from.chain != candidate.chain) writer_.filled.clear();
    writer_.fills = fills;
    for (int pass = 0; pass < 3; ++pass) {
      CallWords words = writer_.words_of(candidate, pass == 2 ? fills : Fills::kInputs, &trial);
      CheckPlan plan = plan_of_(words);
      plan.warp_orders = 1;
      plan.seconds = kSecondsOfRun;
      CheckResult checked;
      try {
        checked = run_check(plan, [](int, int) {});
      } catch (const StatusError& error) {
        if (result_.first.empty()) result_.first = error.status().message;
        return std::nullopt;
      }
      const double cost = instructions_of(checked);
      spent_ += cost;
      const bool finished =
          !checked.runs.empty() && std::all_of(checked.runs.begin(), checked.runs.end(),
                                               [](const auto& run) { return run.finished; });
      const bool more = pass < 2 && fill_what_is_read(checked);
      if (!finished && !checked.findings.empty() && result_.first.empty()) {
        result_.first = checked.findings[0].finding.check;
      }
      if (!finished && pass == 1) continue;
      if (more || (!finished && pass == 0)) continue;
      if (!finished) return std::nullopt;
      cost_ = cost;
      fills_used_ = pass == 2 ? fills : Fills::kInputs;
      return Proposal{std::move(words), candidate, names_of(checked), {}};
    }
    return std::nullopt;
  }

  static double instructions_of(const CheckResult& checked) {
    double all = 0;
    for (const CheckRun& run : checked.runs) {
      all += static_cast<double>(run.report.warp_instructions);
    }
    return all;
  }

  static std::vector<std::string> names_of(const CheckResult& checked) {
    std::vector<std::string> names;
    for (const SeenFinding& seen : checked.findings) {
      if (!is_note(seen)) names.push_back(seen.finding.check);
    }
    return names;
  }

  // Whether an array is read before it is written, and was not filled so far.
  bool fill_what_is_read(const CheckResult& checked) {
    bool more = false;
    for (const SeenFinding& seen : checked.findings) {
      if (seen.finding.check != "uninitialised-global-read" || !seen.finding.has_address) continue;
      std::string nearest;
      std::uint64_t base = 0;
      for (const auto& [name, address] : checked.addresses) {
        if (address > seen.finding.address || address < base) continue;
        nearest = name;
        base = address;
      }
      if (!nearest.empty()) more |= writer_.filled.insert(nearest).second;
    }
    return more;
  }

  const KernelFacts& kernel_;
  const CallWords& given_;
  const std::function<CheckPlan(const CallWords&)>& plan_of_;
  CallWriter writer_;
  const double began_ = processor_seconds();
  bool integers_ = false, bytes_ = false;
  std::string refusal_;
  int large_trials_ = 0, stopped_ = 0, refused_ = 0, more_shared_ = 0, further_ = 0;
  std::int64_t least_shared_ = 0;  // with less the kernel is out of bounds
  std::size_t arrays_ = 0, touched_ = 0, reached_ = 0;
  std::map<std::string, ArrayReach> reach_;  // of the call that is kept
  Fills fills_ = Fills::kShuffled, fills_used_ = Fills::kInputs;
  // Warp instructions: of all runs so far; of that call under checks, and by what that last grew.
  double spent_ = 0, cost_ = 0, growth_ = 1;
  Proposed result_;
};

}  // namespace

Proposed propose(const HostSource& source, const KernelFacts& kernel, const CallWords& given,
                 const std::function<CheckPlan(const CallWords&)>& plan_of) {
  return Proposer(kernel, given, plan_of).run(candidates_of(source, kernel));
}

}  // namespace tessera::checking
