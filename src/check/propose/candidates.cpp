#include "check/propose/candidates.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace tessera::checking {
namespace {

constexpr std::int64_t kSmallest = 16;          // that a variable of the program is made
constexpr std::int64_t kMostThreads = 1 << 17;  // of a launch that is tried
constexpr double kThreads = 2048;               // of the launch that is tried first
constexpr int kMostHalvings = 24;

const std::vector<std::int64_t> kValues = {64, 1024, 32, 128, 256, 16, 8, 1};

std::int64_t product(const Dims& dims) { return dims[0] * dims[1] * dims[2]; }

std::optional<Dims> dims_of(const std::optional<HostValue>& value) {
  if (!value) return std::nullopt;
  const Dims dims = value->dims ? *value->dims : Dims{value->whole(), 1, 1};
  const bool fits = std::all_of(dims.begin(), dims.end(),
                                [](std::int64_t one) { return one > 0 && one < (1 << 24); });
  if (!fits) return std::nullopt;
  return dims;
}

// Blocks and grids of a kernel of which nobody says how it is launched.
std::vector<Dims> blocks_of_dimensions(const KernelFacts& kernel) {
  const int threads = std::max(kernel.signature.required_threads, kernel.signature.max_threads);
  if (kernel.uses_z && !kernel.grids_z) return {{8, 8, 4}, {4, 4, 4}, {32, 4, 2}};
  if (kernel.uses_y) {
    if (threads == 1024) return {{32, 32, 1}, {16, 16, 1}};
    return {{16, 16, 1}, {32, 32, 1}, {32, 8, 1}, {8, 8, 1}, {32, 4, 1}};
  }
  std::vector<Dims> blocks = {{256, 1, 1}, {128, 1, 1}, {32, 1, 1}, {64, 1, 1}, {1024, 1, 1}};
  if (threads > 0) blocks.insert(blocks.begin(), Dims{threads, 1, 1});
  return blocks;
}

std::vector<Dims> usual_blocks(const KernelFacts& kernel) {
  if (kernel.block) return {*kernel.block};
  std::vector<Dims> blocks = blocks_of_dimensions(kernel);
  const int most = kernel.signature.max_threads, exactly = kernel.signature.required_threads;
  std::erase_if(blocks, [&](const Dims& block) {
    return (most > 0 && product(block) > most) || (exactly > 0 && product(block) != exactly);
  });
  if (blocks.empty()) blocks.push_back({std::max({most, exactly, 1}), 1, 1});
  return blocks;
}

std::vector<Dims> usual_grids(const KernelFacts& kernel) {
  if (kernel.grid) return {*kernel.grid};
  if (kernel.grids_z) return {{2, 2, 2}, {1, 1, 1}};
  if (kernel.grids_y) return {{2, 2, 1}, {1, 1, 1}};
  return {{4, 1, 1}, {1, 1, 1}};
}

// Names of sizes of blocks get such sizes; others the value.
std::int64_t value_for(const std::string& name, std::int64_t value) {
  std::string lower;
  for (const char c : name) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const char* word : {"thread", "block_size", "blocksize", "blockdim", "tpb"}) {
    if (lower.find(word) != lower.npos) return 128;
  }
  return value;
}

// One launch of the source under one set of values.
class LaunchReader {
 public:
  LaunchReader(const HostSource& source, const LaunchSite& site, const KernelFacts& kernel,
               const Scope& scope)
      : source_(source), site_(site), kernel_(kernel), scope_(scope), evaluator_(source) {}

  std::vector<Candidate> all() {
    evaluator_.overrides.clear();
    find_roots();
    std::vector<Candidate> candidates;
    for (const std::int64_t value : kValues) {
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
    const auto see = [&](TokenRange words, bool stays) {
      evaluator_.clear();
      evaluator_.value(words, scope_);
      keep(stays);
    };
    for (const TokenRange& words : site_.template_arguments) see(words, true);
    for (std::size_t i = 0; i < site_.shape.size() && i < 3; ++i) see(site_.shape[i], i == 1);
    for (std::size_t i = 0; i < site_.arguments.size(); ++i) {
      if (i >= kernel_.parameters.size()) break;
      if (is_number(i)) see(site_.arguments[i], false);
      for (const FieldGuess& field : kernel_.parameters[i].fields) {
        if (site_.arguments[i].size() != 1) break;
        evaluator_.clear();
        evaluator_.member(site_.arguments[i].first->text, field.name, scope_);
        keep(false);
      }
    }
    for (const std::string& name : fixed) roots_.erase(name);
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
        if (smaller != value) changed.push_back({name, value, smaller});
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
    candidate.numbers.resize(kernel_.parameters.size());
    candidate.elements.resize(kernel_.parameters.size());
    candidate.fields.resize(kernel_.parameters.size());
    for (std::size_t i = 0; i < site_.arguments.size() && i < candidate.numbers.size(); ++i) {
      evaluator_.clear();
      if (is_number(i)) {
        candidate.numbers[i] = evaluator_.value(site_.arguments[i], scope_);
      } else if (!kernel_.parameters[i].fields.empty()) {
        if (site_.arguments[i].size() != 1) continue;
        for (const FieldGuess& field : kernel_.parameters[i].fields) {
          candidate.fields[i][field.name] =
              evaluator_.member(site_.arguments[i].first->text, field.name, scope_);
        }
      } else {
        candidate.elements[i] = allocated(source_, evaluator_, site_.arguments[i], scope_,
                                          size_of(kernel_.parameters[i].type));
      }
    }
    evaluator_.clear();
    if (site_.shape.size() > 2) {
      if (const auto shared = evaluator_.value(site_.shape[2], scope_))
        candidate.shared = std::max<std::int64_t>(shared->whole(), 0);
    }
    const auto grid = dims_of(evaluator_.value(site_.shape[0], scope_));
    const auto block =
        site_.shape.size() < 2 ? std::nullopt : dims_of(evaluator_.value(site_.shape[1], scope_));
    const std::vector<Dims> grids = grid ? smaller_grids(*grid) : usual_grids(kernel_);
    const std::vector<Dims> blocks = block ? std::vector{*block} : usual_blocks(kernel_);
    for (const Dims& some_grid : grids) {
      for (const Dims& some_block : blocks) {
        if (product(some_block) > 1024) continue;
        candidate.grid = some_grid;
        candidate.block = some_block;
        candidates.push_back(candidate);
      }
    }
  }

  // A grid that no variable makes smaller.
  std::vector<Dims> smaller_grids(const Dims& grid) const {
    if (product(grid) <= 64) return {grid};
    Dims few = grid;
    for (std::int64_t& one : few) one = std::min<std::int64_t>(one, 4);
    return {grid, few};
  }

  const HostSource& source_;
  const LaunchSite& site_;
  const KernelFacts& kernel_;
  const Scope& scope_;
  Evaluator evaluator_;
  std::map<std::string, std::int64_t> roots_;
  std::set<std::string> free_;
};

// Without a launch in the source: every number is the same.
std::vector<Candidate> usual(const KernelFacts& kernel) {
  std::vector<Candidate> candidates;
  for (const Dims& block : usual_blocks(kernel)) {
    for (const Dims& grid : usual_grids(kernel)) {
      std::vector<std::int64_t> values = kValues;
      values.insert(values.begin(), grid[0] * block[0]);
      for (const std::int64_t value : values) {
        Candidate candidate;
        candidate.grid = grid;
        candidate.block = block;
        candidate.shared = kernel.has_dynamic_shared ? 32768 : 0;
        candidate.elements.resize(kernel.parameters.size());
        candidate.fields.resize(kernel.parameters.size());
        for (const ParameterGuess& parameter : kernel.parameters) {
          HostValue number;
          number.integer = value_for(parameter.name, value);
          number.is_real = is_float(parameter.type);
          number.real = 1;
          candidate.numbers.push_back(number);
        }
        candidates.push_back(std::move(candidate));
      }
    }
  }
  return candidates;
}

// How far the launch is from one that takes no time and still has several blocks.
double distance(const Candidate& candidate) {
  const auto threads = static_cast<double>(product(candidate.grid) * product(candidate.block));
  return std::abs(std::log2(threads / kThreads));
}

}  // namespace

KernelFacts facts_of(const vgpu::KernelSignature& kernel, const std::string& ptx,
                     const HostSource& source) {
  KernelFacts facts{kernel, guess_parameters(kernel, source)};
  std::size_t begin = ptx.find(".entry " + kernel.name + "(");
  if (begin == ptx.npos) begin = 0;
  std::size_t end = ptx.find("\n}", begin);
  const std::string body = ptx.substr(begin, end == ptx.npos ? end : end - begin);
  const auto has = [&](const char* what) { return body.find(what) != body.npos; };
  facts.grids_y = has("%ctaid.y");
  facts.grids_z = has("%ctaid.z");
  facts.uses_y = facts.grids_y || has("%tid.y");
  facts.uses_z = facts.grids_z || has("%tid.z");
  facts.stores = has("st.global") || has("atom.") || has("red.") || has("call") || has("bulk") ||
                 has("st.b") || has("st.f") || has("st.u") || has("st.v");
  for (const int rank : {1, 2, 3}) {
    const std::size_t at = body.find("tex." + std::to_string(rank) + "d.v4.");
    if (at == body.npos) continue;
    facts.texture_rank = rank;
    const std::string type = body.substr(at + 10, 3);
    facts.texel = type == "u32"   ? ElementType::kU8
                  : type == "s32" ? ElementType::kS32
                                  : ElementType::kF32;
  }
  for (std::size_t at = 0; (at = ptx.find(".extern .shared", at)) != ptx.npos; ++at) {
    const std::size_t end_of_name = ptx.find('[', at), before = ptx.rfind(' ', end_of_name);
    if (end_of_name == ptx.npos) break;
    const std::string name = ptx.substr(before + 1, end_of_name - before - 1);
    facts.has_dynamic_shared |= has(name.c_str());
  }
  return facts;
}

std::vector<Candidate> candidates_of(const HostSource& source, const KernelFacts& kernel) {
  std::vector<Candidate> candidates;
  const KernelWords words = words_of_kernel(kernel.signature.name);
  for (const LaunchSite& site : source.launches()) {
    Evaluator evaluator(source);
    Scope scope{source.around(site.at), site.at, {}};
    if (!launches(site, words, evaluator, scope)) continue;
    const std::vector<Candidate> more = LaunchReader(source, site, kernel, scope).all();
    candidates.insert(candidates.end(), more.begin(), more.end());
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto& a, const auto& b) { return distance(a) < distance(b); });
  const auto large = [](const Candidate& one) {
    return product(one.grid) * product(one.block) > kMostThreads;
  };
  std::erase_if(candidates, large);
  const std::vector<Candidate> more = usual(kernel);
  candidates.insert(candidates.end(), more.begin(), more.end());
  return candidates;
}

std::optional<Dims> dims_of_text(const std::string& text) {
  Dims dims = {1, 1, 1};
  std::istringstream words(text);
  std::string word;
  for (std::size_t i = 0; std::getline(words, word, ','); ++i) {
    if (i == 3 || word.empty() || word.find_first_not_of("0123456789") != word.npos ||
        word.size() > 9) {
      return std::nullopt;
    }
    dims[i] = std::stoll(word);
  }
  if (text.empty()) return std::nullopt;
  return dims;
}

std::string dims_text(const Dims& dims) {
  std::string text = std::to_string(dims[0]);
  if (dims[1] != 1 || dims[2] != 1) text += "," + std::to_string(dims[1]);
  if (dims[2] != 1) text += "," + std::to_string(dims[2]);
  return text;
}

}  // namespace tessera::checking
