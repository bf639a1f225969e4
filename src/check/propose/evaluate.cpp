#include "check/propose/evaluate.h"

#include <algorithm>
#include <cmath>

#include "check/propose/expression.h"

namespace tessera::checking {
namespace {

constexpr int kDeepest = 40, kMostSteps = 20000;  // before a definition is taken for endless

// To the ";" or "," that ends an initial value.
TokenRange up_to_end(const Token* begin, const Token* last) {
  const Token* token = begin;
  while (token != last && !token->is(";") && !token->is(",") && !token->is(")") &&
         !token->is("}")) {
    token =
        token->is("(") || token->is("[") || token->is("{") ? skip_group(token, last) : token + 1;
  }
  return {begin, token};
}

bool is_literal(TokenRange words) {
  return !words.empty() && std::all_of(words.first, words.last, [](const Token& token) {
    return token.kind == Token::Kind::kNumber || token.kind == Token::Kind::kSign;
  });
}

// Functions that C++ and CUDA programs round and compare with.
std::optional<HostValue> library_function(const std::string& name,
                                          const std::vector<HostValue>& of) {
  if (of.size() == 2 && (name == "min" || name == "max" || name == "fmin" || name == "fmax")) {
    return (of[0].number() < of[1].number()) == (name.find("min") != name.npos) ? of[0] : of[1];
  }
  if (of.size() == 2 && name == "pow") return real_value(std::pow(of[0].number(), of[1].number()));
  if (of.size() != 1) return std::nullopt;
  const double x = of[0].number();
  if (name.starts_with("ceil")) return real_value(std::ceil(x));
  if (name.starts_with("floor")) return real_value(std::floor(x));
  if (name == "sqrt" || name == "sqrtf") return real_value(std::sqrt(x));
  if (name == "log2" || name == "log2f") return real_value(std::log2(x));
  if (name == "float" || name == "double") return real_value(x);
  static const std::set<std::string> kCasts = {"int",     "unsigned", "size_t",     "long",
                                               "int32_t", "uint32_t", "int64_t",    "uint64_t",
                                               "uint",    "abs",      "static_cast"};
  if (kCasts.count(name) != 0) return whole_value(of[0].whole());
  return std::nullopt;
}

}  // namespace

std::optional<HostValue> Evaluator::value(TokenRange words, const Scope& scope, int depth) {
  if (++steps_ > kMostSteps) return std::nullopt;
  return ExpressionReader(*this, scope, words, depth + 1).all();
}

std::optional<HostValue> Evaluator::root(const std::string& name, TokenRange words,
                                         const Scope& scope, int depth, bool is_global) {
  const auto found = value(words, scope, depth);
  const bool may_change = !is_global || !source_.is_used_on_device(name);
  if (!found || found->is_real || found->dims || !is_literal(words) || !may_change) return found;
  roots[name] = found->integer;
  const auto other = overrides.find(name);
  return other == overrides.end() ? found : whole_value(other->second);
}

// The last definition before the place that can be computed: "name = VALUE", "TYPE name(VALUE)".
std::optional<HostValue> Evaluator::defined_in(TokenRange text, const std::string& name,
                                               const Scope& scope, int depth, bool is_global) {
  bool is_set_later = false;
  for (const Token* token = text.last; token-- != text.first;) {
    if (!token->is_name() || token->text != name || token + 1 >= text.last) continue;
    if (token != text.first && (token[-1].is(".") || token[-1].is("->"))) continue;
    Scope there = scope;
    there.at = token;
    if (token[1].is("=")) {
      const auto found = root(name, up_to_end(token + 2, text.last), there, depth, is_global);
      // A zero that is only there until a value is known is none.
      if (found && is_set_later && found->number() == 0) return std::nullopt;
      if (found) return found;
      is_set_later = true;
    }
    const bool is_declared = token != text.first && token[-1].is_name() &&
                             (token[-1].is("dim3") || bytes_of_type({token - 1, token}) != 0);
    if (is_declared && (token[1].is("(") || token[1].is("{"))) {
      const TokenRange inside{token + 2, skip_group(token + 1, text.last) - 1};
      if (token[-1].is("dim3")) return called("dim3", split_at_commas(inside), there, depth);
      if (auto found = root(name, inside, there, depth, is_global)) return found;
    }
  }
  return std::nullopt;
}

std::optional<HostValue> Evaluator::named(const std::string& name, const Scope& scope, int depth) {
  if (depth > kDeepest) return std::nullopt;
  if (const auto found = scope.bound.find(name); found != scope.bound.end()) return found->second;
  const auto macro = source_.source().macros.find(name);
  if (macro != source_.source().macros.end() && !macro->second.takes_arguments) {
    const std::vector<Token>& body = macro->second.body;
    return root(name, {body.data(), body.data() + body.size()}, scope, depth, true);
  }
  if (scope.function != nullptr) {
    const Token* from = scope.function->body.first;
    if (scope.at > from && scope.at <= scope.function->body.last) {
      if (auto found = defined_in({from, scope.at}, name, scope, depth, false)) return found;
    }
    if (const auto argument = argument_of(name, scope)) {
      if (auto found = value(argument->words, argument->scope, depth)) return found;
    }
  }
  const Scope outside;
  if (auto found = defined_in(source_.all(), name, outside, depth, true)) return found;
  free.insert(name);
  const auto other = overrides.find(name);
  if (other == overrides.end()) return std::nullopt;
  return whole_value(other->second);
}

std::optional<Evaluator::Argument> Evaluator::argument_of(const std::string& parameter,
                                                          const Scope& scope) {
  if (scope.function == nullptr) return std::nullopt;
  const auto& own = scope.function->parameters;
  const auto& templates = scope.function->template_parameters;
  const auto found =
      std::find_if(own.begin(), own.end(), [&](const auto& one) { return one.name == parameter; });
  const auto as_template = std::find(templates.begin(), templates.end(), parameter);
  if (found == own.end() && as_template == templates.end()) return std::nullopt;
  const TokenRange all = source_.all();
  for (const Token* token = all.first; token + 1 < all.last; ++token) {
    if (!token->is_name() || token->text != scope.function->name) continue;
    const SourceFunction* caller = source_.around(token);
    if (caller == nullptr || caller == scope.function) continue;
    const Token* open = token + 1;
    std::vector<TokenRange> explicit_ones;
    if (open->is("<")) {
      const Token* close = open;
      while (close < all.last && !close->is(">") && !close->is(";")) ++close;
      explicit_ones = split_at_commas({open + 1, close});
      open = close + 1;
    }
    if (open >= all.last || !open->is("(")) continue;
    const Scope there{caller, token, {}};
    if (found == own.end()) {
      const auto at = static_cast<std::size_t>(as_template - templates.begin());
      if (at < explicit_ones.size()) return Argument{explicit_ones[at], there};
      continue;
    }
    const auto given = split_at_commas({open + 1, skip_group(open, all.last) - 1});
    const auto at = static_cast<std::size_t>(found - own.begin());
    if (at < given.size()) return Argument{given[at], there};
  }
  return std::nullopt;
}

std::optional<HostValue> Evaluator::member(const std::string& name, const std::string& field,
                                           const Scope& scope, int depth) {
  if (scope.function == nullptr || scope.at == nullptr) return std::nullopt;
  for (const Token* token = scope.at; token-- > scope.function->body.first;) {
    if (token->text != name || token + 4 >= scope.at || !token[1].is(".") ||
        token[2].text != field || !token[3].is("=")) {
      continue;
    }
    Scope there = scope;
    there.at = token;
    return root(name + "." + field, up_to_end(token + 4, scope.at), there, depth, false);
  }
  return std::nullopt;
}

// name.x: what was assigned to it, else of the dim3.
std::optional<HostValue> Evaluator::component(const std::string& name, int index,
                                              const Scope& scope, int depth) {
  const std::string letter(1, static_cast<char>('x' + index));
  if (const auto assigned = member(name, letter, scope, depth)) return assigned;
  const auto whole = named(name, scope, depth);
  if (!whole) return std::nullopt;
  if (whole->dims) return whole_value((*whole->dims)[static_cast<std::size_t>(index)]);
  return index == 0 ? whole : whole_value(1);
}

// Of "int name[] = {32, 64, 128}".
std::optional<HostValue> Evaluator::element(const std::string& name, std::int64_t index,
                                            const Scope& scope, int depth) {
  const TokenRange all = source_.all();
  for (const Token* token = all.first; token + 4 < all.last; ++token) {
    if (!token->is_name() || token->text != name || !token[1].is("[")) continue;
    const Token* open = skip_group(token + 1, all.last);
    if (open + 1 >= all.last || !open->is("=") || !open[1].is("{")) continue;
    const auto parts = split_at_commas({open + 2, skip_group(open + 1, all.last) - 1});
    if (index < 0 || static_cast<std::size_t>(index) >= parts.size()) return std::nullopt;
    return value(parts[static_cast<std::size_t>(index)], scope, depth);
  }
  return std::nullopt;
}

std::optional<HostValue> Evaluator::called(const std::string& name,
                                           const std::vector<TokenRange>& arguments,
                                           const Scope& scope, int depth) {
  if (depth > kDeepest) return std::nullopt;
  std::vector<HostValue> values;
  for (const TokenRange& words : arguments) {
    const auto found = value(words, scope, depth);
    if (!found) return std::nullopt;
    values.push_back(*found);
  }
  if (name == "dim3") {
    HostValue dims;
    dims.dims = {1, 1, 1};
    for (std::size_t i = 0; i < values.size() && i < 3; ++i) (*dims.dims)[i] = values[i].whole();
    if (values.size() == 1 && values[0].dims) return values[0];
    return dims;
  }
  const auto macro = source_.source().macros.find(name);
  if (macro != source_.source().macros.end() && macro->second.takes_arguments) {
    Scope inside = scope;
    for (std::size_t i = 0; i < values.size() && i < macro->second.parameters.size(); ++i) {
      inside.bound[macro->second.parameters[i]] = values[i];
    }
    const std::vector<Token>& body = macro->second.body;
    return value({body.data(), body.data() + body.size()}, inside, depth);
  }
  if (const SourceFunction* function = source_.function(name)) {
    Scope inside{function, function->body.last, {}};
    for (std::size_t i = 0; i < values.size() && i < function->parameters.size(); ++i) {
      inside.bound[function->parameters[i].name] = values[i];
    }
    for (const Token* token = function->body.first; token != function->body.last; ++token) {
      if (token->is("return")) {
        return value(up_to_end(token + 1, function->body.last), inside, depth);
      }
    }
  }
  return library_function(name, values);
}

}  // namespace tessera::checking
