#include "check/propose/propose.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>

#include "base/interrupt.h"
#include "base/status.h"
#include "check/arguments.h"
#include "check/propose/trial.h"
#include "check/values.h"

namespace tessera::checking {
namespace {

// Of an array whose extent is not known yet: the second where the first is too small.
constexpr std::int64_t kTrialBytes = 1 << 20, kLargeTrialBytes = 32 << 20;
constexpr std::int64_t kTrialPointers = 64;
constexpr int kMostTrials = 80, kMostLargeTrials = 3, kMostStopped = 6;
// The last is of this program's processors, so that another program's work changes no proposal.
constexpr double kSecondsOfTrial = 1, kSecondsOfCheck = 8, kSecondsInAll = 10;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// What arrays hold at first: numbers that count up; zeros, for what is an index; letters, for text;
// or as the last of these, outputs nothing.
enum class Fills : std::uint8_t { kCounts, kZeros, kText, kInputs };

class Proposer {
 public:
  Proposer(const KernelFacts& kernel, const CallWords& given,
           const std::function<CheckPlan(const CallWords&)>& plan_of)
      : kernel_(kernel), given_(given), plan_of_(plan_of) {}

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
      if (result_.tried >= kMostTrials || processor_seconds() - began_ > kSecondsInAll) break;
      if (interrupted() || stopped_ > kMostStopped || !result_.given.empty()) break;
      if (accept(candidate)) break;
    }
    return std::move(result_);
  }

 private:
  // Whether this is the call; a worse one may be kept.
  bool accept(const Candidate& candidate) {
    for (const Fills fills : {Fills::kCounts, Fills::kZeros, Fills::kText}) {
      if ((fills == Fills::kZeros && !integers_) || (fills == Fills::kText && !bytes_)) continue;
      trial_bytes_ = kTrialBytes;
      std::optional<Trial> trial = tried(candidate, fills);
      if (trial && trial->fault == "out-of-bounds" && may_be_large(candidate)) {
        trial_bytes_ = kLargeTrialBytes;
        trial = tried(candidate, fills);
      }
      if (!trial) return false;
      if (!trial->finished) continue;
      std::size_t touched = 0;
      bool writes = arrays_ == 0 || !kernel_.stores;
      for (const auto& [name, reach] : trial->reach) {
        touched += reach.read + reach.written != 0;
        writes |= reach.written != 0;
      }
      if (!writes || (result_.call && touched <= touched_)) return false;
      if (!verify(candidate, *trial, fills)) continue;
      touched_ = touched;
      return touched >= trial->reach.size();
    }
    return false;
  }

  // WHY few: a kernel that is out of bounds anywhere costs a fill of all its arrays each time.
  bool may_be_large(const Candidate& candidate) {
    return candidate.site != nullptr && large_trials_++ < kMostLargeTrials;
  }

  std::optional<Trial> tried(const Candidate& candidate, Fills fills) {
    ++result_.tried;
    try {
      Trial trial = try_call(plan_of_(words_of(candidate, fills, nullptr)), kSecondsOfTrial);
      if (!trial.finished && result_.first.empty()) result_.first = trial.fault;
      stopped_ += trial.fault == "stopped";
      return trial;
    } catch (const StatusError& error) {
      if (result_.first.empty()) result_.first = error.status().message;
      if (blames_what_is_given(error.status().message)) result_.given = error.status().message;
      return std::nullopt;
    }
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

  // Runs the call under checks, with arrays of the extents that the trial has shown: first with
  // outputs that hold nothing, then with those that the kernel reads before it writes them.
  bool verify(const Candidate& candidate, const Trial& trial, Fills fills) {
    filled_.clear();
    fills_ = fills;
    for (int pass = 0; pass < 3; ++pass) {
      CallWords words = words_of(candidate, pass == 2 ? fills : Fills::kInputs, &trial);
      CheckPlan plan = plan_of_(words);
      plan.warp_orders = 1;
      plan.seconds = kSecondsOfCheck;
      CheckResult checked;
      const auto begin = Clock::now();
      try {
        checked = run_check(plan, [](int, int) {});
      } catch (const StatusError& error) {
        if (result_.first.empty()) result_.first = error.status().message;
        return false;
      }
      const bool finished =
          !checked.runs.empty() && std::all_of(checked.runs.begin(), checked.runs.end(),
                                               [](const auto& run) { return run.finished; });
      const bool more = pass < 2 && fill_what_is_read(checked);
      if (!finished && !checked.findings.empty() && result_.first.empty()) {
        result_.first = checked.findings[0].finding.check;
      }
      if (!finished && pass == 1) continue;
      if (more || (!finished && pass == 0)) continue;
      if (!finished) return false;
      Proposal proposal{std::move(words), candidate, seconds_since(begin), {}};
      for (const SeenFinding& seen : checked.findings) {
        if (!is_note(seen)) proposal.found.push_back(seen.finding.check);
      }
      result_.call = std::move(proposal);
      return true;
    }
    return false;
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
      if (!nearest.empty()) more |= filled_.insert(nearest).second;
    }
    return more;
  }

  CallWords words_of(const Candidate& candidate, Fills fills, const Trial* trial) const {
    CallWords words = given_;
    if (words.grid.empty()) words.grid = dims_text(candidate.grid);
    if (words.block.empty()) words.block = dims_text(candidate.block);
    note_shape(candidate, words);
    if (words.cluster.empty() && candidate.cluster) words.cluster = dims_text(*candidate.cluster);
    if (words.shared.empty() && candidate.shared > 0) {
      words.shared = std::to_string(candidate.shared);
    }
    for (std::size_t i = words.arguments.size(); i < kernel_.parameters.size(); ++i) {
      add_argument(candidate, i, fills, trial, words);
    }
    return words;
  }

  void note_shape(const Candidate& candidate, CallWords& words) const {
    for (const auto& [name, value] : candidate.assumed) note(name, std::to_string(value), words);
    if (candidate.site == nullptr) return;  // a usual shape, all of it
    const auto note_part = [&](const char* name, const std::string& value, std::size_t part) {
      const std::string& why = candidate.untold[part];
      words.assumed.push_back(fmt::format("{} {}", name, value));
      if (!why.empty()) {
        words.assumed.back() += fmt::format(" (the launch has {}: give --{})", why, name);
      }
    };
    if (given_.grid.empty() && !candidate.tells_grid) note_part("grid", words.grid, 0);
    if (given_.block.empty() && !candidate.tells_block) note_part("block", words.block, 1);
    if (given_.shared.empty() && !candidate.untold[2].empty()) {
      note_part("shared", std::to_string(candidate.shared), 2);
    }
  }
  static void note(const std::string& name, const std::string& value, CallWords& words) {
    const std::string text = name + " = " + value;
    const auto found = std::find(words.assumed.begin(), words.assumed.end(), text);
    if (found == words.assumed.end()) words.assumed.push_back(text);
  }

  void add_argument(const Candidate& candidate, std::size_t i, Fills fills, const Trial* trial,
                    CallWords& words) const {
    const ParameterGuess& parameter = kernel_.parameters[i];
    std::string value;
    if (parameter.role == ParameterRole::kArray) {
      value = array_text(parameter, parameter.name, candidate.elements[i], fills, trial);
    } else if (parameter.role == ParameterRole::kPointers) {
      const std::string to = parameter.name + "_0";
      words.arrays.push_back(to + "=" + array_text(parameter, to, std::nullopt, fills, trial));
      std::int64_t count = kTrialPointers;
      if (trial != nullptr) {
        const auto reach = trial->reach.at(parameter.name);
        count = std::max<std::int64_t>(1, static_cast<std::int64_t>(reach.read / 8));
      }
      value = "pointers(" + to;
      for (std::int64_t k = 1; k < count; ++k) value += ", " + to;
      value += ")";
    } else if (parameter.role == ParameterRole::kTexture) {
      const std::string shape = kernel_.texture_rank == 3   ? "16,16,16"
                                : kernel_.texture_rank == 2 ? "64,64"
                                                            : "4096";
      const std::string fill = is_float(kernel_.texel) ? "uniform" : "iota";
      words.arrays.push_back(
          fmt::format("{}_0={}[{}]:{}", parameter.name, lab::word_of(kernel_.texel), shape, fill));
      value = fmt::format("texture({}_0)", parameter.name);
    } else if (parameter.role == ParameterRole::kStruct) {
      value = struct_text(candidate, i, fills, trial, words);
    } else {
      value = number_text(parameter, candidate.numbers[i]);
      if (candidate.site == nullptr || !candidate.numbers[i]) {
        note(parameter.name, value.substr(value.find(':') + 1), words);
      }
    }
    words.arguments.push_back(parameter.name + "=" + value);
  }

  // Its pointers get arrays of their own, its numbers what the launch assigns or 64.
  std::string struct_text(const Candidate& candidate, std::size_t i, Fills fills,
                          const Trial* trial, CallWords& words) const {
    const ParameterGuess& parameter = kernel_.parameters[i];
    const std::string zeros = "bytes:" + std::string(2 * parameter.bytes, '0');
    CallWords own;
    std::string text;
    std::size_t offset = 0;
    const auto add = [&](const std::string& more) {
      text += (text.empty() ? "struct(" : ", ") + more;
    };
    const auto pad_to = [&](std::size_t end) {
      if (offset < end) add(fmt::format("pad({})", end - offset));
      offset = std::max(offset, end);
    };
    for (const FieldGuess& field : parameter.fields) {
      const std::size_t bytes = field.is_array ? 8 : size_of(field.type) * field.lanes;
      const std::size_t alignment = field.lanes == 3 ? bytes / 3 : bytes;
      for (std::int64_t k = 0; k < field.count; ++k) {
        const std::size_t at = (offset + alignment - 1) / alignment * alignment;
        if (field.lanes > 1) pad_to(at);  // what else is there, the text of a struct aligns
        add(field_text(candidate, i, field, k, {fills, trial}, own));
        offset = at + bytes;
      }
    }
    const auto whole = static_cast<std::size_t>(parameter.bytes);
    if (offset + 8 <= whole && offset + 16 > whole) pad_to(whole);
    text += ")";
    if (parameter.fields.empty() || !fits(text, parameter.bytes)) {
      note(parameter.name, "zeros", words);
      return zeros;
    }
    words.arrays.insert(words.arrays.end(), own.arrays.begin(), own.arrays.end());
    words.assumed.insert(words.assumed.end(), own.assumed.begin(), own.assumed.end());
    return text;
  }

  struct Filling {
    Fills fills;
    const Trial* trial;
  };
  std::string field_text(const Candidate& candidate, std::size_t i, const FieldGuess& field,
                         std::int64_t k, const Filling& filling, CallWords& words) const {
    const std::string suffix = k == 0 ? "" : std::to_string(k);
    ParameterGuess one;
    one.type = field.type;
    if (field.is_array) {
      const std::string name = kernel_.parameters[i].name + "_" + field.name + suffix;
      words.arrays.push_back(name + "=" +
                             array_text(one, name, std::nullopt, filling.fills, filling.trial));
      return name;
    }
    const auto& values = candidate.fields[i];
    const auto value = values.find(field.name);
    const bool is_known = value != values.end() && value->second;
    std::string text = number_text(one, is_known ? value->second : std::nullopt);
    const bool has_dims = is_known && value->second->dims && field.lanes == 3;
    if (has_dims) {
      const auto& dims = *value->second->dims;
      text = fmt::format("u32:{}, u32:{}, u32:{}", dims[0], dims[1], dims[2]);
    } else {
      const std::string lane = text;
      for (int other = 1; other < field.lanes; ++other) text += ", " + lane;
    }
    if (!is_known) {
      const std::string none = number_text(one, std::nullopt);
      note(kernel_.parameters[i].name + "." + field.name, none.substr(none.find(':') + 1), words);
    }
    return text;
  }

  // Fields of a type that is not as the source says are no such struct.
  static bool fits(const std::string& text, std::size_t bytes) {
    const Argument argument = parse_argument("--arg", "x=" + text);
    const auto* fields = std::get_if<StructArgument>(&argument.value);
    return fields != nullptr && size_of(*fields, 1) == bytes;
  }

  static std::string number_text(const ParameterGuess& parameter,
                                 const std::optional<HostValue>& value) {
    const std::string_view word = lab::word_of(parameter.type);
    if (is_float(parameter.type)) return fmt::format("{}:{}", word, value ? value->number() : 1.0);
    return fmt::format("{}:{}", word, value ? value->whole() : 64);
  }

  std::string array_text(const ParameterGuess& parameter, const std::string& name,
                         std::optional<std::int64_t> allocated, Fills fills,
                         const Trial* trial) const {
    const std::int64_t size = size_of(parameter.type);
    std::int64_t elements = trial_bytes_ / size;
    bool is_output = false;
    if (trial != nullptr) {
      const ArrayReach reach = trial->reach.at(name);
      const auto bytes = static_cast<std::int64_t>(std::max(reach.read, reach.written));
      elements = std::max<std::int64_t>(1, (bytes + size - 1) / size);
      if (allocated && *allocated > elements && *allocated * size <= trial_bytes_) {
        elements = *allocated;
      }
      is_output = reach.written != 0 && !parameter.is_constant;
    }
    const Fills own = fills == Fills::kInputs ? fills_ : fills;
    std::string text = fmt::format("{}[{}]", lab::word_of(parameter.type), elements);
    const bool is_filled = fills != Fills::kInputs || !is_output || filled_.count(name) != 0;
    if (!is_filled) return text;
    // A large trial asks only how far the kernel reaches: drawing numbers would take most of it.
    if (trial == nullptr && trial_bytes_ == kLargeTrialBytes) return text + ":zeros";
    if (is_float(parameter.type)) return text + ":uniform";
    const bool is_plain = !parameter.is_opaque && filled_.count(name) == 0;
    if (is_plain && own == Fills::kCounts) return text + ":iota";
    return text + (is_plain && own == Fills::kText && size == 1 ? ":constant=100" : ":zeros");
  }

  const KernelFacts& kernel_;
  const CallWords& given_;
  const std::function<CheckPlan(const CallWords&)>& plan_of_;
  const double began_ = processor_seconds();
  bool integers_ = false, bytes_ = false;
  std::int64_t trial_bytes_ = kTrialBytes;
  int large_trials_ = 0, stopped_ = 0;
  std::size_t arrays_ = 0, touched_ = 0;
  std::set<std::string> filled_;  // outputs that the kernel reads first
  Fills fills_ = Fills::kCounts;
  Proposed result_;
};

}  // namespace

Proposed propose(const HostSource& source, const KernelFacts& kernel, const CallWords& given,
                 const std::function<CheckPlan(const CallWords&)>& plan_of) {
  return Proposer(kernel, given, plan_of).run(candidates_of(source, kernel));
}

}  // namespace tessera::checking
