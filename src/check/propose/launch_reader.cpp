#include "check/propose/launch_reader.h"

#include <algorithm>

#include "check/propose/shapes.h"

namespace tessera::checking {
namespace {

constexpr std::int64_t kSmallest = 16;   // that a variable of the program is made
constexpr std::int64_t kFewBlocks = 64;  // of a grid that is not made smaller
constexpr int kMostHalvings = 24;

std::optional<Dims> dims_of(const std::optional<HostValue>& value) {
  if (!value) return std::nullopt;
  const Dims dims = value->dims ? *value->dims : Dims{value->whole(), 1, 1};
  const bool fits = std::all_of(dims.begin(), dims.end(),
                                [](std::int64_t one) { return one > 0 && one < (1 << 24); });
  if (!fits) return std::nullopt;
  return dims;
}

Scope scope_of_arguments(const HostSource& source, const LaunchSite& site, const Scope& scope) {
  if (!site.has_arguments_of_call) return scope;
  return {source.around(site.call), site.call, scope.bound};
}

// One launch of the source under one set of values.
class LaunchReader {
 public:
  LaunchReader(const HostSource& source, const LaunchSite& site, const KernelFacts& kernel,
               const Scope& scope)
      : source_(source),
        site_(site),
        kernel_(kernel),
        scope_(scope),
        arguments_(scope_of_arguments(source, site, scope)),
        evaluator_(source) {
    for (const ParameterGuess& parameter : kernel.parameters) {
      FieldOrder& order = orders_.emplace_back();
      for (const FieldGuess& field : parameter.fields) order.push_back(field.name);
    }
  }

  std::vector<Candidate> all() {
    evaluator_.overrides.clear();
    find_roots();
    std::vector<Candidate> candidates;
    for (const std::int64_t value : kUsualValues) {
      for (const std::string& name : free_) evaluator_.overrides[name] = value_for(name, value);
      add_levels(candidates);
      if (free_.empty()) break;
    }
    return candidates;
  }

 private:
  // Which variables may be smaller, and which have no value.
  void find_roots() {
    std::set<std::string> fixed;
    const auto keep = [&](bool stays) {
      for (const auto& [name, value] : evaluator_.roots) {
        if (stays) fixed.insert(name);
        roots_[name] = value;
      }
      free_.insert(evaluator_.free.begin(), evaluator_.free.end());
    };
    const auto see = [&](TokenRange words, const Scope& scope, bool stays) {
      evaluator_.clear();
      evaluator_.value(words, scope);
      keep(stays);
    };
    for (const TokenRange& words : site_.template_arguments) see(words, scope_, true);
    for (const TokenRange& words : site_.cluster) see(words, scope_, true);
    for (std::size_t i = 0; i < site_.shape.size() && i < 3; ++i)
      see(site_.shape[i], scope_, false);
    if (site_.shape.size() > 1) keep_what_changes(site_.shape[1], fixed);
    for (std::size_t i = 0; i < site_.arguments.size(); ++i) {
      if (i >= kernel_.parameters.size()) break;
      if (is_number(i)) see(site_.arguments[i], arguments_, false);
      for (const FieldGuess& field : kernel_.parameters[i].fields) {
        if (field.is_array) continue;
        evaluator_.clear();
        evaluator_.field(site_.arguments[i], field.name, orders_[i], arguments_);
        keep(false);
      }
    }
    for (const std::string& name : fixed) roots_.erase(name);
  }

  // A function that makes the block and the grid is given more than the block needs.
  void keep_what_changes(TokenRange words, std::set<std::string>& fixed) {
    const auto with = [&](const std::string& name, std::int64_t value) {
      evaluator_.clear();
      evaluator_.overrides[name] = value;
      const auto dims = dims_of(evaluator_.value(words, scope_));
      evaluator_.overrides.erase(name);
      return dims;
    };
    evaluator_.clear();
    const auto whole = dims_of(evaluator_.value(words, scope_));
    const std::map<std::string, std::int64_t> roots = evaluator_.roots;
    for (const auto& [name, value] : roots) {
      if (!whole || with(name, value / 2) != whole) fixed.insert(name);
    }
  }

  bool is_number(std::size_t i) const {
    return kernel_.parameters[i].role == ParameterRole::kNumber;
  }

  void add_levels(std::vector<Candidate>& candidates) {
    std::vector<Changed> before;
    for (int halvings = 0; halvings < kMostHalvings; ++halvings) {
      std::vector<Changed> changed;
      for (const auto& [name, value] : roots_) {
        const std::int64_t smaller = std::max(value >> halvings, std::min(value, kSmallest));
        evaluator_.overrides[name] = smaller;
        if (smaller == value) continue;
        changed.push_back({name, std::to_string(value), std::to_string(smaller)});
      }
      const auto same = [](const Changed& a, const Changed& b) { return a.to == b.to; };
      if (halvings > 0 &&
          std::equal(changed.begin(), changed.end(), before.begin(), before.end(), same)) {
        break;
      }
      before = changed;
      add(changed, candidates);
    }
  }

  void add(const std::vector<Changed>& changed, std::vector<Candidate>& candidates) {
    Candidate candidate;
    candidate.site = &site_;
    candidate.changed = changed;
    add_arguments(candidate);
    std::vector<std::optional<Dims>> shape(2);
    for (std::size_t i = 0; i < shape.size() && i < site_.shape.size(); ++i) {
      evaluator_.clear();
      shape[i] = dims_of(evaluator_.value(site_.shape[i], scope_));
      if (shape[i] && !(i == 0 ? kernel_.grid : kernel_.block)) note_assumed(candidate);
      if (!shape[i]) candidate.untold[i] = why_untold(site_.shape[i]);
    }
    evaluator_.clear();
    if (site_.shape.size() > 2) {
      if (const auto shared = evaluator_.value(site_.shape[2], scope_)) {
        candidate.shared = std::max<std::int64_t>(shared->whole(), 0);
      } else if (kernel_.has_dynamic_shared && !site_.shape[2].empty()) {
        candidate.shared = kUsualShared;
        candidate.tells_shared = false;
        candidate.untold[2] = why_untold(site_.shape[2]);
      }
    }
    note_assumed(candidate);
    candidate.cluster = cluster();
    const std::vector<Dims> grids =
        shape[0] ? std::vector{*shape[0]} : in_clusters(usual_grids(kernel_), candidate.cluster);
    const std::vector<Dims> blocks = shape[1] ? std::vector{*shape[1]} : usual_blocks(kernel_);
    candidate.tells_grid = shape[0].has_value();
    candidate.tells_block = shape[1].has_value();
    for (const Dims& some_grid : grids) {
      for (const Dims& some_block : blocks) {
        if (product(some_block) > 1024) continue;
        candidate.grid = some_grid;
        candidate.block = some_block;
        candidates.push_back(candidate);
        if (candidate.tells_grid) add_smaller_grid(candidate, candidates);
      }
    }
  }

  // "blocks(n), and blocks() is not in the files that were read"
  std::string why_untold(TokenRange words) const {
    if (words.empty()) return "";
    std::string text = text_of(words);
    if (!evaluator_.not_run.empty()) {
      text +=
          ", and what " + *evaluator_.not_run.begin() + "() does depends on what only a run tells";
    } else if (!evaluator_.not_found.empty()) {
      text += ", and " + *evaluator_.not_found.begin() + "() is not in the files that were read";
    } else {
      text += ", which has no value in the text";
    }
    return text;
  }

  void add_arguments(Candidate& candidate) {
    candidate.numbers.resize(kernel_.parameters.size());
    candidate.elements.resize(kernel_.parameters.size());
    candidate.fields.resize(kernel_.parameters.size());
    const std::size_t count = std::min(site_.arguments.size(), candidate.numbers.size());
    for (std::size_t i = kernel_.arguments; i < count; ++i) {
      const TokenRange words = site_.arguments[i];
      const ParameterGuess& parameter = kernel_.parameters[i];
      evaluator_.clear();
      if (is_number(i)) {
        candidate.numbers[i] = evaluator_.value(words, arguments_);
        note_assumed(candidate);
      } else if (!parameter.fields.empty()) {
        for (const FieldGuess& field : parameter.fields) {
          if (field.is_array) continue;
          candidate.fields[i][field.name] =
              evaluator_.field(words, field.name, orders_[i], arguments_);
        }
        note_assumed(candidate);
      } else {
        candidate.elements[i] =
            allocated(source_, evaluator_, words, arguments_, size_of(parameter.type));
      }
    }
  }

  // Names whose values nothing tells, as far as the last value needed them.
  void note_assumed(Candidate& candidate) const {
    for (const std::string& name : evaluator_.free) {
      const auto taken = evaluator_.overrides.find(name);
      if (taken != evaluator_.overrides.end()) candidate.assumed[name] = taken->second;
    }
  }

  std::optional<Dims> cluster() {
    if (site_.cluster.empty()) return std::nullopt;
    Dims extents = {1, 1, 1};
    for (std::size_t i = 0; i < site_.cluster.size() && i < 3; ++i) {
      const auto found = evaluator_.value(site_.cluster[i], scope_);
      if (found && found->whole() > 0) extents[i] = found->whole();
    }
    return extents;
  }

  // A grid is whole clusters.
  static std::vector<Dims> in_clusters(std::vector<Dims> grids,
                                       const std::optional<Dims>& cluster) {
    if (!cluster) return grids;
    for (Dims& grid : grids) {
      for (std::size_t i = 0; i < 3; ++i) {
        grid[i] = (grid[i] + (*cluster)[i] - 1) / (*cluster)[i] * (*cluster)[i];
      }
    }
    return grids;
  }

  // Of a grid that no variable makes smaller.
  static void add_smaller_grid(Candidate candidate, std::vector<Candidate>& candidates) {
    if (product(candidate.grid) <= kFewBlocks) return;
    const std::string whole = dims_text(candidate.grid);
    for (std::int64_t& one : candidate.grid) one = std::min<std::int64_t>(one, 4);
    candidate.grid = in_clusters({candidate.grid}, candidate.cluster)[0];
    candidate.changed.push_back({"grid", whole, dims_text(candidate.grid), true});
    candidates.push_back(candidate);
  }

  const HostSource& source_;
  const LaunchSite& site_;
  const KernelFacts& kernel_;
  const Scope& scope_;
  const Scope arguments_;  // where the words of the arguments are
  Evaluator evaluator_;
  std::vector<FieldOrder> orders_;  // of the parameters that are structs
  std::map<std::string, std::int64_t> roots_;
  std::set<std::string> free_;
};

}  // namespace

std::vector<Candidate> read_launch(const HostSource& source, const LaunchSite& site,
                                   const KernelFacts& kernel, const Scope& scope) {
  return LaunchReader(source, site, kernel, scope).all();
}

}  // namespace tessera::checking
