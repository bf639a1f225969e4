#include "check/propose/source/host_source.h"

#include <algorithm>

#include "check/propose/source/functions.h"

namespace tessera::checking {
namespace {

// Returns the token after the name of a called function: "f(", "f<T>("; for a constructor also "T
// x(" and "make_unique<T>(", or with "{" for "(". Returns null for other uses of the name.
const Token* opening(const Token* name, const Token* last, const SourceFunction& function,
                     std::vector<TokenRange>& template_arguments) {
  const Token* open = name + 1;
  if (open != last && open->is("<")) {
    const Token* end = skip_angles(open, last);
    if (end == last) return nullptr;
    template_arguments = split_at_commas({open + 1, end - 1});
    open = end;
  }
  if (function.is_constructor && open != last && (open->is(">") || open->is_name())) ++open;
  if (open == last) return nullptr;
  const bool opens = open->is("(") || (function.is_constructor && open->is("{"));
  return opens ? open : nullptr;
}

}  // namespace

TokenRange FunctionCall::given_for(const std::string& parameter) const {
  const auto& names = function->template_parameters;
  const auto as_template = std::find(names.begin(), names.end(), parameter);
  const auto at = static_cast<std::size_t>(as_template - names.begin());
  if (at < template_arguments.size()) return template_arguments[at];
  const std::vector<TokenRange> given = given_from(parameter);
  return given.empty() ? TokenRange{} : given[0];
}

std::vector<TokenRange> FunctionCall::given_from(const std::string& parameter) const {
  const auto& own = function->parameters;
  const auto found =
      std::find_if(own.begin(), own.end(), [&](const auto& one) { return one.name == parameter; });
  const auto at = static_cast<std::size_t>(found - own.begin());
  if (found == own.end() || at >= arguments.size()) return {};
  return {arguments.begin() + static_cast<std::ptrdiff_t>(at), arguments.end()};
}

HostSource::HostSource(const std::string& path, const ReadOptions& options)
    : source_(read_words(path, options)) {
  for (const Token& token : source_.tokens) {
    if (token.is_name()) places_[token.text].push_back(&token);
  }
  SourceFunctions found = find_functions(source_);
  functions_ = std::move(found.functions);
  std::sort(functions_.begin(), functions_.end(),
            [](const auto& a, const auto& b) { return a.body.first < b.body.first; });
  for (SourceFunction& function : functions_) function.outer = around(function.body.first - 1);
  device_names_ = std::move(found.device_names);
  launches_ = find_launches(*this, made_);
}

std::span<const Token* const> HostSource::places_of(const std::string& name,
                                                    TokenRange words) const {
  const auto found = places_.find(name);
  if (found == places_.end()) return {};
  const auto& all = found->second;
  return {std::lower_bound(all.begin(), all.end(), words.first),
          std::lower_bound(all.begin(), all.end(), words.last)};
}

const SourceFunction* HostSource::around(const Token* token) const {
  auto next =
      std::upper_bound(functions_.begin(), functions_.end(), token,
                       [](const Token* at, const auto& one) { return at < one.body.first; });
  while (next != functions_.begin()) {
    const SourceFunction& function = *--next;
    if (token < function.body.last) return &function;
    if (function.outer == nullptr) break;  // and so no function around it goes further
  }
  return nullptr;
}

const std::vector<FunctionCall>& HostSource::calls_of(const SourceFunction& function) const {
  const auto known = calls_.find(&function);
  if (known != calls_.end()) return known->second;
  std::vector<FunctionCall>& calls = calls_[&function];
  const TokenRange whole = all();
  for (const Token* token : places_of(function.name, whole)) {
    if (token + 1 == whole.last) continue;
    const SourceFunction* caller = around(token);
    if (caller == nullptr || caller == &function) continue;
    FunctionCall call{token, &function, {}, {}};
    const Token* open = opening(token, whole.last, function, call.template_arguments);
    if (open == nullptr) continue;
    call.arguments = split_at_commas({open + 1, skip_group(open, whole.last) - 1});
    calls.push_back(std::move(call));
  }
  return calls;
}

const SourceFunction* HostSource::kernel(const std::string& name) const {
  const auto found = std::find_if(functions_.begin(), functions_.end(), [&](const auto& one) {
    return one.is_kernel && one.name == name;
  });
  return found == functions_.end() ? nullptr : &*found;
}

const SourceFunction* HostSource::function(const std::string& name) const {
  const auto found = std::find_if(functions_.begin(), functions_.end(), [&](const auto& one) {
    return !one.is_kernel && one.name == name;
  });
  return found == functions_.end() ? nullptr : &*found;
}

const SourceFunction* HostSource::function(const std::string& name, std::size_t arguments) const {
  const auto takes = [&](const SourceFunction& one) {
    const auto needed = std::count_if(one.parameters.begin(), one.parameters.end(),
                                      [](const auto& each) { return each.initial.empty(); });
    return static_cast<std::size_t>(needed) <= arguments && arguments <= one.parameters.size();
  };
  const auto found = std::find_if(functions_.begin(), functions_.end(), [&](const auto& one) {
    return !one.is_kernel && one.name == name && takes(one);
  });
  return found == functions_.end() ? function(name) : &*found;
}

}  // namespace tessera::checking
