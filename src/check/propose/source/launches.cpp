#include "check/propose/source/launches.h"

#include <algorithm>

#include "check/propose/source/assigned.h"
#include "check/propose/source/host_source.h"

namespace tessera::checking {
namespace {

constexpr int kMostNames = 4;  // limit of variables in a row through which a kernel is named

const FieldOrder& config_fields() {
  static const FieldOrder kFields = {"gridDim", "blockDim", "dynamicSmemBytes",
                                     "stream",  "attrs",    "numAttrs"};
  return kFields;
}

// Returns the "<" of the template arguments that end just before `last`; null if there are none.
const Token* template_open(const Token* first, const Token* last) {
  int depth = 0;
  for (const Token* token = last; token-- != first;) {
    if (token->is(";") || token->is("{") || token->is("}")) return nullptr;
    depth += token->is(">") ? 1 : token->is(">>>") ? 3 : token->is("<") ? -1 : 0;
    if (depth == 0) return token;
  }
  return nullptr;
}

struct Named {
  std::string name;
  std::vector<TokenRange> template_arguments;
};

// Returns the kernel that the words name: "kernel" and {float, 128} for "(const
// void*)space::kernel<float, 128>"; no name for other words.
Named named_by(TokenRange words) {
  words = without_casts(words);
  Named named;
  const Token* end = words.last;
  if (!words.empty() && end[-1].is(">")) {
    const Token* open = template_open(words.first, end);
    if (open == nullptr || open == words.first) return named;
    named.template_arguments = split_at_commas({open + 1, end - 1});
    end = open;
  }
  if (end == words.first || !end[-1].is_name()) return named;
  for (const Token* token = words.first; token + 1 < end; ++token) {
    if (!token->is_name() && !token->is("::")) return named;
  }
  named.name = end[-1].text;
  return named;
}

class Finder {
 public:
  Finder(const HostSource& source, std::deque<std::vector<Token>>& made)
      : source_(source), made_(made) {}

  std::vector<LaunchSite> all() {
    const TokenRange whole = source_.all();
    for (const Token* token = whole.first; token != whole.last; ++token) {
      if (token->is("<<<") && token != whole.first) by_signs(token);
      if (!token->text.starts_with("cudaLaunch") || token + 1 == whole.last) continue;
      const Token* open = token + 1;
      if (open->is("<")) open = skip_angles(open, whole.last);
      if (open == whole.last || !open->is("(")) continue;
      const auto given = split_at_commas({open + 1, skip_group(open, whole.last) - 1});
      if (token->is("cudaLaunchKernelEx") || token->is("cudaLaunchKernelExC")) {
        by_config(token, given);
      } else if (token->is("cudaLaunchKernel") || token->is("cudaLaunchCooperativeKernel")) {
        by_function(token, given);
      }
    }
    return std::move(sites_);
  }

 private:
  LaunchSite site_at(const Token* token) const {
    LaunchSite site;
    site.at = token;
    site.line = token->line;
    site.file = source_.source().files[static_cast<std::size_t>(token->file)];
    return site;
  }

  // Reads a launch: name<template_arguments><<<shape>>>(arguments).
  void by_signs(const Token* token) {
    const TokenRange whole = source_.all();
    const Token* end = token + 1;
    while (end != whole.last && !end->is(">>>")) {
      end = end->is("(") || end->is("{") ? skip_group(end, whole.last) : end + 1;
    }
    if (end == whole.last || end + 1 == whole.last || !end[1].is("(")) return;
    const Token* name = token - 1;
    if (name->is(">")) {
      const Token* open = template_open(whole.first, token);
      if (open == nullptr || open == whole.first) return;
      name = open - 1;
    }
    if (name->is(")")) name = group_open(name, whole.first);  // "(kernel<float, 128>)<<<"
    if (!name->is_name() && !name->is("(")) return;
    LaunchSite site = site_at(name);
    site.shape = split_at_commas({token + 1, end});
    site.arguments = split_at_commas({end + 2, skip_group(end + 1, whole.last) - 1});
    add(std::move(site), {name, token}, 0);
  }

  // Reads a launch by cudaLaunchKernel: (function, grid, block, args, shared, stream).
  void by_function(const Token* token, const std::vector<TokenRange>& given) {
    if (given.size() < 4) return;
    LaunchSite site = site_at(token);
    site.by = token->text;
    site.shape = {given[1], given[2]};
    if (given.size() > 4) site.shape.push_back(given[4]);
    site.arguments = pointed_to_by(given[3], token);
    add(std::move(site), given[0], 0);
  }

  // Reads a launch by cudaLaunchKernelEx: (&config, function, arguments...). For
  // cudaLaunchKernelExC, the arguments are a list of addresses.
  void by_config(const Token* token, const std::vector<TokenRange>& given) {
    if (given.size() < 2 || given[0].empty()) return;
    LaunchSite site = site_at(token);
    site.by = token->text;
    const TokenRange config = without_casts(given[0]);
    if (config.size() != 1) return;
    for (const char* field : {"gridDim", "blockDim", "dynamicSmemBytes"}) {
      site.shape.push_back(of_config(config.first->text, field, token));
    }
    site.cluster = cluster_before(token);
    if (token->is("cudaLaunchKernelEx")) {
      site.arguments.assign(given.begin() + 2, given.end());
    } else if (given.size() > 2) {
      site.arguments = pointed_to_by(given[2], token);
    }
    add(std::move(site), given[1], 0);
  }

  TokenRange body_around(const Token* at) const {
    const SourceFunction* function = source_.around(at);
    return {function != nullptr ? function->body.first : source_.all().first, at};
  }

  // Returns the words of a field of the config: the whole field, or its components one by one.
  TokenRange of_config(const std::string& config, const std::string& field, const Token* at) {
    const TokenRange before = body_around(at);
    std::vector<TokenRange> components;
    for (const char* letter : {"x", "y", "z"}) {
      components.push_back(assigned_last(source_, before, {config, field, letter}));
    }
    const auto whole = field_words(source_, before, config, field, config_fields());
    if (components[0].empty()) {
      const TokenRange words = whole.value_or(TokenRange{});
      if (is_filled_behind(words, config, before)) return member_words(config, field, *at);
      return !words.empty() && words.first->is("{") ? joined("dim3", words) : words;
    }
    std::vector<Token> words = {*at, *at};
    words[0].text = "dim3";
    words[1] = sign("(", *at);
    for (std::size_t i = 0; i < 3 && !components[i].empty(); ++i) {
      if (i != 0) words.push_back(sign(",", *at));
      words.insert(words.end(), components[i].first, components[i].last);
    }
    words.push_back(sign(")", *at));
    return kept(std::move(words));
  }

  // Whether the config comes from a caller, or whether a function of the source makes or fills the
  // config after `words`.
  bool is_filled_behind(TokenRange words, const std::string& config, TokenRange before) const {
    const SourceFunction* around = source_.around(before.last);
    if (words.empty() && around != nullptr && is_parameter(*around, config)) return true;
    for (const Token* token : source_.places_of(config, before)) {
      if (token + 3 >= before.last || (!words.empty() && token < words.first)) continue;
      const Token* name = token + 2;  // the name in "config = space::name("
      while (name + 2 < before.last && name[1].is("::")) name += 2;
      if (token[1].is("=") && source_.function(name->text) != nullptr) return true;
      const Token* open = token - 1;
      while (open > before.first && (open->is("&") || open->is(",") || open->is_name())) --open;
      if (open->is("(") && open > before.first && source_.function(open[-1].text) != nullptr) {
        return true;
      }
    }
    return false;
  }
  TokenRange member_words(const std::string& variable, const std::string& field, const Token& at) {
    std::vector<Token> words(3, at);
    words[0].text = variable;
    words[1] = sign(".", at);
    words[2].text = field;
    return kept(std::move(words));
  }

  static Token sign(const char* text, const Token& at) {
    return {Token::Kind::kSign, text, at.line, at.file};
  }
  TokenRange joined(const char* name, TokenRange words) {
    std::vector<Token> all = {{Token::Kind::kName, name, words.first->line, words.first->file}};
    all.insert(all.end(), words.first, words.last);
    return kept(std::move(all));
  }
  TokenRange kept(std::vector<Token> words) {
    const std::vector<Token>& stays = made_.emplace_back(std::move(words));
    return {stays.data(), stays.data() + stays.size()};
  }

  // Returns the extents of the cluster: "attribute[0].val.clusterDim.x = 2", or ".clusterDim = {2,
  // 1, 1}".
  std::vector<TokenRange> cluster_before(const Token* at) const {
    const TokenRange before = body_around(at);
    std::vector<TokenRange> extents(3);
    for (const Token* token = at; token-- != before.first;) {
      if (!token->is("clusterDim") || token + 3 >= at) continue;
      const Token* value = token + 1;
      if (value->is("=")) ++value;
      if (value->is("{")) {
        if (!extents[0].empty()) break;
        return split_at_commas({value + 1, skip_group(value, at) - 1});
      }
      const std::string& letter = token[2].text;
      if (!token[1].is(".") || !token[3].is("=") || letter.size() != 1) continue;
      const auto index = static_cast<std::size_t>(letter[0] - 'x');
      if (index < 3 && extents[index].empty()) extents[index] = up_to_end(token + 4, at);
    }
    if (extents[0].empty()) extents.clear();
    return extents;
  }

  // Returns {a, b} for "args", "&args[0]" or "args.data()" after "void* args[] = {&a, (void*)&b}".
  std::vector<TokenRange> pointed_to_by(TokenRange list, const Token* at) const {
    const auto name = std::find_if(list.first, list.last, [](const Token& token) {
      return token.is_name() && !token.is("void") && !token.text.ends_with("_cast");
    });
    if (name == list.last) return {};
    const TokenRange before = body_around(at);
    std::vector<TokenRange> values;
    for (const Token* token = at; token-- != before.first;) {
      if (token->text != name->text || token + 1 >= at) continue;
      if (token != before.first && (token[-1].is(".") || token[-1].is("->"))) continue;
      const Token* open = token + 1;
      std::size_t index = 0;
      if (open->is("[")) {
        if (open[1].kind == Token::Kind::kNumber) index = std::stoul(open[1].text);
        open = skip_group(open, at);
      }
      if (open == at) continue;
      if (open->is("=")) ++open;
      if (open->is("{")) {
        for (const TokenRange& part : split_at_commas({open + 1, skip_group(open, at) - 1})) {
          if (!part.empty()) values.push_back(without_casts(part));
        }
        return values;
      }
      const bool is_element = open[-1].is("=") && token[1].is("[") && index < 256;
      if (!is_element) continue;
      if (values.size() <= index) values.resize(index + 1);
      if (values[index].empty()) values[index] = without_casts(up_to_end(open, at));
    }
    return values;
  }

  // Adds the launch of the kernel that these words name, directly or through a variable or
  // parameter.
  void add(LaunchSite site, TokenRange words, int depth) {
    const Named named = named_by(words);
    if (named.name.empty() || depth > kMostNames) return;
    site.kernel = named.name;
    site.template_arguments = named.template_arguments;
    if (source_.kernel(named.name) != nullptr) {
      sites_.push_back(std::move(site));
      return;
    }
    const Token* at = site.call != nullptr ? site.call : site.at;
    const std::vector<TokenRange> local = pointers_to_functions(body_around(at), named.name);
    for (const TokenRange& one : local) add(site, one, depth + 1);
    if (!local.empty()) return;
    if (site.call == nullptr && source_.around(site.at) != nullptr) {
      add_of_callers(site, named.name, depth);
    } else {
      sites_.push_back(std::move(site));  // a kernel that the source does not show
    }
  }

  // Returns the last values given to a pointer to a function: "auto k = ...", "Type k = ..." and
  // "void (*k)(float*) = ..."; in a switch, the value of each "case 1: k = &...".
  static std::vector<TokenRange> pointers_to_functions(TokenRange before, const std::string& name) {
    std::vector<TokenRange> found;
    for (const Token* token = before.last; token-- != before.first;) {
      if (token->text != name || token + 1 >= before.last) continue;
      const Token* equals = token + 1;
      if (equals->is(")") && token[-1].is("*")) {
        if (equals + 1 >= before.last || !equals[1].is("(")) continue;
        equals = skip_group(equals + 1, before.last);
      }
      if (equals >= before.last || !equals->is("=")) continue;
      const Token* value = equals + 1 < before.last && equals[1].is("&") ? equals + 2 : equals + 1;
      const bool is_case = token - before.first > 1 && token[-1].is(":");
      if (is_case || found.empty()) found.push_back(up_to_end_of_name(value, before.last));
      if (!is_case) break;
    }
    return found;
  }
  // Returns the words up to the ";", because commas of template arguments do not end a value.
  static TokenRange up_to_end_of_name(const Token* begin, const Token* last) {
    const Token* end = std::find_if(begin, last, [](const Token& token) { return token.is(";"); });
    return {begin, end};
  }

  // Adds one launch for each caller, if the function around the launch gets the kernel from its
  // callers.
  void add_of_callers(const LaunchSite& site, const std::string& parameter, int depth) {
    const SourceFunction& function = *source_.around(site.at);
    const bool is_own = is_parameter(function, parameter);
    bool has_callers = false;
    for (const FunctionCall& call : source_.calls_of(function)) {
      const TokenRange kernel = call.given_for(parameter);
      if (!is_own || kernel.empty()) continue;
      has_callers = true;
      LaunchSite of_call = site;
      of_call.call = call.at;
      of_call.has_arguments_of_call = true;
      of_call.arguments.clear();
      for (const TokenRange& words : site.arguments) add_argument(function, call, words, of_call);
      add(std::move(of_call), kernel, depth + 1);
    }
    if (!has_callers) sites_.push_back(site);
  }

  static bool is_parameter(const SourceFunction& function, const std::string& name) {
    const auto& names = function.template_parameters;
    return std::find(names.begin(), names.end(), name) != names.end() ||
           std::any_of(function.parameters.begin(), function.parameters.end(),
                       [&](const SourceParameter& one) { return one.name == name; });
  }

  // Adds an argument of a launch in `function`. Its parameters, as in
  // "std::forward<Args>(args)...", "args..." and "n", are replaced by the words that `call` passes.
  static void add_argument(const SourceFunction& function, const FunctionCall& call,
                           TokenRange words, LaunchSite& site) {
    const bool is_pack = words.size() > 3 && words.last[-1].is(".") && words.last[-2].is(".");
    if (is_pack) words.last -= 3;
    words = without_casts(words);
    if (is_pack) {
      if (words.empty()) return;
      const auto rest = call.given_from(words.last[-1].text);
      site.arguments.insert(site.arguments.end(), rest.begin(), rest.end());
      return;
    }
    const bool is_name = words.size() == 1 && is_parameter(function, words.first->text);
    const TokenRange given = is_name ? call.given_for(words.first->text) : TokenRange{};
    site.arguments.push_back(given.empty() ? words : given);
  }

  const HostSource& source_;
  std::deque<std::vector<Token>>& made_;
  std::vector<LaunchSite> sites_;
};

}  // namespace

std::string LaunchSite::text() const {
  std::string text = by.empty() ? kernel + "<<<" : by + "(" + kernel;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i].empty()) continue;
    text += (i == 0 && by.empty() ? "" : ", ") + text_of(shape[i]);
  }
  return text + (by.empty() ? ">>>" : ")");
}

std::vector<LaunchSite> find_launches(const HostSource& source,
                                      std::deque<std::vector<Token>>& made) {
  return Finder(source, made).all();
}

}  // namespace tessera::checking
