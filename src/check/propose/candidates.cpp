#include "check/propose/candidates.h"

#include <algorithm>
#include <ctime>
#include <iterator>
#include <set>
#include <sstream>

#include "check/propose/launch_reader.h"
#include "check/propose/shapes.h"

namespace tessera::checking {
namespace {

constexpr double kSecondsOfReading = 1.5;  // limit of processor time for all launches of one kernel
constexpr int kChainsOfSite = 1 << 10;

// Returns candidates for a source without a launch; all number arguments get the same value.
std::vector<Candidate> usual(const KernelFacts& kernel) {
  std::vector<Candidate> candidates;
  for (const Dims& block : usual_blocks(kernel)) {
    for (const Dims& grid : usual_grids(kernel)) {
      std::vector<std::int64_t> values(std::begin(kUsualValues), std::end(kUsualValues));
      values.insert(values.begin(), grid[0] * block[0]);
      for (const std::int64_t value : values) {
        Candidate candidate;
        candidate.grid = grid;
        candidate.block = block;
        candidate.shared = kernel.has_dynamic_shared ? kUsualShared : 0;
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

// Whether these words name the component of an index, directly or through a function or macro that
// the words use.
bool names_component(const HostSource& source, TokenRange words, const char* component,
                     std::set<std::string>& seen) {
  for (const Token* token = words.first; token != words.last; ++token) {
    if (token->is(".") && token + 1 != words.last && token[1].is(component)) return true;
    if (!token->is_name() || !seen.insert(token->text).second) continue;
    const auto macro = source.source().macros.find(token->text);
    if (macro != source.source().macros.end()) {
      const std::vector<Token>& body = macro->second.body;
      const TokenRange inside{body.data(), body.data() + body.size()};
      if (names_component(source, inside, component, seen)) return true;
    }
    for (const SourceFunction& function : source.functions()) {
      if (function.name == token->text && names_component(source, function.body, component, seen)) {
        return true;
      }
    }
  }
  return false;
}

// WHY only components that the source names: a rank in a cooperative group is computed from all
// components, even if the launch uses only one.
void keep_what_is_named(const HostSource& source, const SourceFunction* kernel,
                        KernelFacts& facts) {
  if (kernel == nullptr) return;
  const auto is_group = [](const Token& token) {
    return token.is("this_thread_block") || token.is("this_grid") || token.is("this_cluster");
  };
  if (std::none_of(kernel->body.first, kernel->body.last, is_group)) return;
  const auto names = [&](const char* component) {
    std::set<std::string> seen;
    return names_component(source, kernel->body, component, seen);
  };
  const bool has_y = names("y"), has_z = names("z");
  facts.grids_y = facts.grids_y && has_y;
  facts.grids_z = facts.grids_z && has_z;
  facts.uses_y = facts.uses_y && has_y;
  facts.uses_z = facts.uses_z && has_z;
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
  keep_what_is_named(source, source.kernel(words_of_kernel(kernel.name).name), facts);
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
  int chain = 0;
  const double until = static_cast<double>(std::clock()) / CLOCKS_PER_SEC + kSecondsOfReading;
  for (const IsLaunch wanted : {IsLaunch::kYes, IsLaunch::kPerhaps}) {
    for (const LaunchSite& site : source.launches()) {
      Evaluator evaluator(source);
      evaluator.until = until;
      Scope scope{source.around(site.at), site.at, {}, site.call};
      if (launches(source, site, words, evaluator, scope) != wanted) continue;
      std::vector<Candidate> more = read_launch(source, site, kernel, scope, until);
      for (Candidate& one : more) one.chain += chain;
      chain += kChainsOfSite;
      candidates.insert(candidates.end(), more.begin(), more.end());
    }
    if (!candidates.empty()) break;
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto& a, const auto& b) { return distance(a) < distance(b); });
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
