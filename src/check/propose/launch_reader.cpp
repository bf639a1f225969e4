#include "check/propose/launch_reader.h"

#include <algorithm>
#include <numeric>

#include "check/propose/levels/halvings.h"
#include "check/propose/shapes.h"
#include "check/propose/source/cases.h"

namespace tessera::checking {
namespace {

constexpr std::int64_t kFewBlocks = 64;  // number of blocks up to which a grid is not made smaller
constexpr std::int64_t kLargestTile = 256;
constexpr int kMostVariants = 16;  // number of usual grids and blocks to try

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

// Reads one launch of the source with one set of values.
class LaunchReader {
 public:
  LaunchReader(const HostSource& source, const LaunchSite& site, const KernelFacts& kernel,
               const Scope& scope, double until)
      : source_(source),
        site_(site),
        kernel_(kernel),
        scope_(scope),
        arguments_(scope_of_arguments(source, site, scope)),
        evaluator_(source) {
    evaluator_.until = until;
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
      chain_ += 2 * kMostVariants;
      if (free_.empty() || evaluator_.is_late()) break;
    }
    return candidates;
  }

 private:
  // One step of reduction: halved values of variables and, for a grid that these variables do not
  // make smaller, a limit of blocks in each direction.
  struct Level {
    Values values;
    std::int64_t most_blocks = 0;  // 0: as many as there are
  };

  // Finds which variables may be made smaller, and which have no value.
  void find_roots() {
    std::set<std::string> fixed;
    const auto see = [&](TokenRange words, const Scope& scope, Values& roots) {
      evaluator_.clear();
      evaluator_.value(words, scope);
      roots.insert(evaluator_.roots.begin(), evaluator_.roots.end());
      free_.insert(evaluator_.free.begin(), evaluator_.free.end());
    };
    Values stay, of_grid;
    for (const TokenRange& words : site_.template_arguments) see(words, scope_, stay);
    for (const TokenRange& words : site_.cluster) see(words, scope_, stay);
    if (!site_.shape.empty()) see(site_.shape[0], scope_, of_grid);
    for (std::size_t i = 1; i < site_.shape.size() && i < 3; ++i)
      see(site_.shape[i], scope_, others_);
    if (site_.shape.size() > 1) keep_what_changes(site_.shape[1], fixed);
    for (std::size_t i = kernel_.arguments; i < site_.arguments.size(); ++i) {
      if (i >= kernel_.parameters.size()) break;
      if (is_number(i)) see(site_.arguments[i], arguments_, others_);
      for (const FieldGuess& field : kernel_.parameters[i].fields) {
        if (field.is_array) continue;
        evaluator_.clear();
        evaluator_.field(site_.arguments[i], field.name, orders_[i], arguments_);
        others_.insert(evaluator_.roots.begin(), evaluator_.roots.end());
        free_.insert(evaluator_.free.begin(), evaluator_.free.end());
      }
    }
    for (const auto& [name, value] : stay) fixed.insert(name);
    if (!kernel_.grid) choose_roots_of_grid(of_grid, fixed);
    for (const std::string& name : fixed) {
      of_grid_.erase(name);
      others_.erase(name);
    }
    for (const auto& [name, value] : of_grid_) others_.erase(name);
  }

  std::optional<Dims> shape_with(TokenRange words, const std::string& name, std::int64_t value) {
    evaluator_.clear();
    evaluator_.overrides[name] = value;
    const auto dims = dims_of(evaluator_.value(words, scope_));
    evaluator_.overrides.erase(name);
    return dims;
  }

  // Chooses the variables whose smaller values make the grid smaller. A variable whose smaller
  // value makes the grid larger, such as the side of a tile, keeps its value.
  void choose_roots_of_grid(const Values& candidates, std::set<std::string>& fixed) {
    if (site_.shape.empty()) return;
    evaluator_.clear();
    for (const std::string& name : free_) {
      evaluator_.overrides[name] = value_for(name, kUsualValues[0]);
    }
    const auto whole = dims_of(evaluator_.value(site_.shape[0], scope_));
    for (const auto& [name, value] : candidates) {
      const auto smaller = shape_with(site_.shape[0], name, smallest_of(value));
      if (whole && smaller && product(*smaller) > product(*whole)) fixed.insert(name);
      if (whole && (!smaller || product(*smaller) < product(*whole))) of_grid_[name] = value;
    }
    evaluator_.overrides.clear();
  }

  // Keeps the values of variables on which the block depends. WHY each variable is tried: a
  // function that computes block and grid together also gets arguments that affect only the grid.
  void keep_what_changes(TokenRange words, std::set<std::string>& fixed) {
    evaluator_.clear();
    const auto whole = dims_of(evaluator_.value(words, scope_));
    const Values roots = evaluator_.roots;
    for (const auto& [name, value] : roots) {
      if (!whole || shape_with(words, name, value / 2) != whole) fixed.insert(name);
    }
  }

  bool is_number(std::size_t i) const {
    return kernel_.parameters[i].role == ParameterRole::kNumber;
  }

  // Adds candidates with the program's own values, then with smaller values of variables that the
  // grid depends on. Variables that only the kernel's arguments depend on are reduced after that,
  // in a chain of their own, with the grid of the best of those candidates.
  void add_levels(std::vector<Candidate>& candidates) {
    std::vector<Level> levels;
    for (const Values& values : halvings_of(of_grid_)) levels.push_back({values});
    for (const std::int64_t most : {1024, 256, 64, 16, 4}) {
      levels.push_back({levels[levels.size() - 1].values, most});
    }
    const std::size_t first = candidates.size();
    for (std::size_t i = 0; i < levels.size(); ++i) add(levels[i], i, 0, candidates);
    if (candidates.size() == first || others_.empty()) return;
    const auto best =
        std::min_element(candidates.begin() + static_cast<std::ptrdiff_t>(first), candidates.end(),
                         [](const auto& a, const auto& b) { return distance(a) < distance(b); });
    const Level base = levels[static_cast<std::size_t>(best->level)];
    const std::vector<Values> widths = halvings_of(others_);
    for (std::size_t i = 1; i < widths.size(); ++i) {
      Level narrow = base;
      narrow.values.insert(widths[i].begin(), widths[i].end());
      const std::size_t before = candidates.size();
      add(narrow, i, kMostVariants, candidates);
      for (std::size_t k = before; k < candidates.size(); ++k) {
        candidates[k].is_step |= i + 1 < widths.size();
      }
    }
  }

  std::int64_t own_value(const std::string& name) const {
    const auto found = of_grid_.find(name);
    return found != of_grid_.end() ? found->second : others_.at(name);
  }

  std::vector<Changed> changed_by(const Values& values) const {
    std::vector<Changed> changed;
    for (const auto& [name, value] : values) {
      const std::int64_t own = own_value(name);
      if (value == own) continue;
      changed.push_back({name, std::to_string(own), std::to_string(value)});
    }
    return changed;
  }

  void add(const Level& level, std::size_t index, int chain, std::vector<Candidate>& candidates) {
    for (const auto& [name, value] : of_grid_) evaluator_.overrides[name] = value;
    for (const auto& [name, value] : others_) evaluator_.overrides[name] = value;
    for (const auto& [name, value] : level.values) evaluator_.overrides[name] = value;
    Candidate candidate;
    candidate.site = &site_;
    candidate.changed = changed_by(level.values);
    for (const auto& [name, value] : level.values) {
      candidate.keeps_multiples &= value % std::gcd(own_value(name), kLargestTile) == 0;
    }
    candidate.level = static_cast<int>(index);
    add_arguments(candidate);
    std::vector<std::optional<Dims>> shape(2);
    bool is_told = index == 0 && candidate.changed.empty();  // the program alone gives the shape
    for (std::size_t i = 0; i < shape.size() && i < site_.shape.size(); ++i) {
      evaluator_.clear();
      shape[i] = dims_of(evaluator_.value(site_.shape[i], scope_));
      if (shape[i] && !(i == 0 ? kernel_.grid : kernel_.block)) note_assumed(candidate);
      if (!shape[i]) candidate.untold[i] = why_untold(site_.shape[i]);
      is_told &= shape[i].has_value() && evaluator_.free.empty();
    }
    candidate.is_certain = is_certain();
    evaluator_.clear();
    candidate.states_shared = site_.shape.size() == 2;
    if (site_.shape.size() > 2) {
      if (const auto shared = evaluator_.value(site_.shape[2], scope_)) {
        candidate.shared = std::max<std::int64_t>(shared->whole(), 0);
        candidate.states_shared = evaluator_.free.empty();
      } else if (kernel_.has_dynamic_shared && !site_.shape[2].empty()) {
        candidate.shared = kUsualShared;
        candidate.tells_shared = false;
        candidate.untold[2] = why_untold(site_.shape[2]);
      }
    }
    note_assumed(candidate);
    candidate.cluster = cluster();
    if (kernel_.grid) shape[0] = kernel_.grid;
    if (kernel_.block) shape[1] = kernel_.block;
    candidate.tells_grid = shape[0].has_value();
    candidate.tells_block = shape[1].has_value();
    if (evaluator_.is_late()) return;  // values may be lacking
    if (level.most_blocks != 0 && !make_grid_smaller(level, shape[0], candidate)) return;
    is_told &= !kernel_.grid && !kernel_.block && site_.shape.size() >= 2 && candidate.is_certain;
    const std::vector<Dims> grids =
        shape[0] ? std::vector{*shape[0]} : in_clusters(usual_grids(kernel_), candidate.cluster);
    const std::vector<Dims> blocks = shape[1] ? std::vector{*shape[1]} : usual_blocks(kernel_);
    for (std::size_t i = 0; i < grids.size(); ++i) {
      for (std::size_t k = 0; k < blocks.size(); ++k) {
        candidate.grid = grids[i];
        candidate.block = blocks[k];
        if (is_told) candidate.refused = refusal_of(candidate, kernel_.signature);
        if (product(blocks[k]) > 1024 && candidate.refused.empty()) continue;
        candidate.chain = chain_ + chain + static_cast<int>(i * kMostVariants / 2 + k);
        candidate.is_step = product(candidate.grid) * product(candidate.block) > kMostThreads;
        candidates.push_back(candidate);
      }
    }
  }

  // Returns why a value is unknown: "blocks(n), and blocks() is not in the files that were read".
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

  // Notes the names with unknown values that were used since the last evaluator_.clear().
  void note_assumed(Candidate& candidate) const {
    for (const std::string& name : evaluator_.free) {
      const auto taken = evaluator_.overrides.find(name);
      if (taken != evaluator_.overrides.end()) candidate.assumed[name] = taken->second;
    }
  }

  // Whether the conditions around the launch are known to hold. A condition with an unknown value
  // may prevent the launch.
  bool is_certain() {
    const std::vector<TokenRange> conditions = conditions_around(source_, site_.at);
    return std::all_of(conditions.begin(), conditions.end(), [&](const TokenRange& words) {
      evaluator_.clear();
      const auto value = evaluator_.value(words, scope_);
      return value && value->whole() != 0 && evaluator_.free.empty();
    });
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

  // Rounds the grids to whole clusters, as a launch requires.
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

  // Makes the grid smaller. Returns false if the caller gave the grid, or if the grid is unknown or
  // small already.
  bool make_grid_smaller(const Level& level, std::optional<Dims>& grid,
                         Candidate& candidate) const {
    if (!grid || kernel_.grid || product(*grid) <= kFewBlocks) return false;
    const std::string whole = dims_text(*grid);
    Dims smaller = *grid;
    for (std::int64_t& one : smaller) one = std::min(one, level.most_blocks);
    smaller = in_clusters({smaller}, candidate.cluster)[0];
    if (smaller == *grid) return false;
    candidate.changed.push_back({"grid", whole, dims_text(smaller), true});
    grid = smaller;
    return true;
  }

  const HostSource& source_;
  const LaunchSite& site_;
  const KernelFacts& kernel_;
  const Scope& scope_;
  const Scope arguments_;  // the scope in which the arguments are read
  Evaluator evaluator_;
  std::vector<FieldOrder> orders_;  // for the parameters that are structs
  Values of_grid_, others_;         // variables that may be smaller
  std::set<std::string> free_;
  int chain_ = 0;
};

}  // namespace

std::vector<Candidate> read_launch(const HostSource& source, const LaunchSite& site,
                                   const KernelFacts& kernel, const Scope& scope, double until) {
  return LaunchReader(source, site, kernel, scope, until).all();
}

}  // namespace tessera::checking
