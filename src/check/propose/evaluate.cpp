#include "check/propose/evaluate.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "check/propose/expression.h"
#include "check/propose/run_function.h"
#include "check/propose/walk/statement_walk.h"

namespace tessera::checking {
namespace {

constexpr int kDeepest = 40, kMostSteps = 20000;  // beyond these, a definition counts as endless

// Whether these words contain only numbers, and no value from the command line or the environment.
bool is_literal(TokenRange words) {
  static const std::set<std::string> kAsks = {"argc",   "argv",   "getenv", "atoi",  "atol",
                                              "atoll",  "stoi",   "stol",   "stoul", "stoll",
                                              "stoull", "strtol", "strtoul"};
  const auto is_asked_for = [](const Token& token) { return kAsks.count(token.text) != 0; };
  const bool is_default =
      std::any_of(words.first, words.last, is_asked_for) &&
      std::any_of(words.first, words.last, [](const Token& token) { return token.is("?"); });
  return !words.empty() && std::all_of(words.first, words.last, [&](const Token& token) {
    return !token.is_name() || is_default || token.text.ends_with("_cast") || token.is("std") ||
           bytes_of_type({&token, &token + 1}) != 0;
  });
}

// Whether the name means a division that rounds up ("ceil_div", "CeilDiv", "div_up"), of a library
// or of a header that is not available.
bool rounds_up(const std::string& name) {
  std::string letters;
  for (const char c : name) {
    if (c != '_') letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  static const std::set<std::string> kNames = {"ceildiv", "cdiv", "divup", "divceil", "idivup"};
  return kNames.count(letters) != 0;
}

// Returns the type of a declared variable: "int" of "int a, b(2), name(3)".
const Token* type_before(const Token* name, const Token* first) {
  const Token* type = name - 1;
  while (type - first >= 2 && type->is(",")) {
    const Token* before = type - 1;
    if (before->is(")") || before->is("}")) before = group_open(before, first) - 1;
    if (before <= first || !before->is_name()) break;
    type = before - 1;
  }
  while (type > first && type->is("const")) --type;
  return type;
}

// Whether the brackets at `open` hold an initial value, not the parameters of a function.
bool is_initial(const Token* open, const Token* last) {
  const Token* end = skip_group(open, last);
  if (end == last || !is_one_of(*end, {";", ","}) || end - open < 3) return false;
  const bool is_typed = end - open > 3 && open[1].is_name() && open[2].is_name();
  return !is_typed && bytes_of_type({open + 1, open + 2}) == 0;
}

// Whether the variable's address is passed to a function here: that function may set it.
bool passes_address(const Token* name, const Token* first) {
  return name - first >= 2 && name[-1].is("&") && (name[-2].is("(") || name[-2].is(","));
}

std::vector<TokenRange> inside_of(const Token* open, const Token* last) {
  return split_at_commas({open + 1, skip_group(open, last) - 1});
}

// Evaluates functions that C++ and CUDA programs use for rounding and comparing.
std::optional<HostValue> library_function(const std::string& name,
                                          const std::vector<HostValue>& of) {
  if (of.size() == 2 && (name == "min" || name == "max" || name == "fmin" || name == "fmax")) {
    return (of[0].number() < of[1].number()) == (name.find("min") != name.npos) ? of[0] : of[1];
  }
  if (of.size() == 2 && rounds_up(name) && of[1].whole() > 0) {
    return whole_value((of[0].whole() + of[1].whole() - 1) / of[1].whole());
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
  if (++steps_ > kMostSteps || is_late()) return std::nullopt;
  return ExpressionReader(*this, scope, words, depth + 1).all();
}

std::optional<HostValue> Evaluator::root(const std::string& name, TokenRange words,
                                         const Scope& scope, int depth, bool is_global) {
  const std::set<std::string> free_before = free;
  const auto found = value(words, scope, depth);
  const bool may_change = !is_global || !source_.is_used_on_device(name);
  if (!found || found->is_real || found->dims || !is_literal(words)) return found;
  free = free_before;  // what a default is taken for is not told, and not needed
  if (!may_change) return found;
  roots[name] = found->integer;
  const auto other = overrides.find(name);
  return other == overrides.end() ? found : whole_value(other->second);
}

// Returns the value of the last definition before this point that can be computed: "name = VALUE",
// "TYPE name(VALUE)".
std::optional<HostValue> Evaluator::defined_in(TokenRange text, const std::string& name,
                                               const Scope& scope, int depth, bool is_global) {
  bool is_set_later = false;
  bool is_outside = is_global && is_constant(name);  // and so are all places that count
  const auto places = source_.places_of(name, text);
  for (std::size_t i = places.size(); i-- != 0;) {
    const Token* token = places[i];
    if (token + 1 >= text.last) continue;
    const bool is_member = token != text.first && (token[-1].is(".") || token[-1].is("->"));
    if (is_member && !(token - text.first > 1 && token[-2].is("this"))) continue;
    Scope there = scope;
    there.at = token;
    if (is_global) there.function = source_.around(token);
    if (is_outside && there.function != nullptr) continue;
    is_set_later |= passes_address(token, text.first);
    if (is_global) {
      TextCall call;
      const SourceFunction* function = nullptr;
      if (filled_by(token, text, call, function) != nullptr) {
        if (!is_of_function(token, name)) return std::nullopt;
        is_outside = true;
        continue;
      }
    } else if (const auto object = set_at(token, text, there, depth)) {
      return object->value;
    }
    if (token[1].is("=")) {
      const bool is_list = token != text.first && token[-1].is("dim3") && token[2].is("{");
      if (is_list) return called("dim3", inside_of(token + 2, text.last), there, depth);
      const auto found = root(name, up_to_end(token + 2, text.last), there, depth, is_global);
      // If a later definition cannot be computed, a zero is only a placeholder and does not count.
      if (found && is_set_later && found->number() == 0) return std::nullopt;
      if (found) return found;
      is_set_later = true;
    }
    const Token* type = token == text.first ? token : type_before(token, text.first);
    const bool is_dims = type->is("dim3");
    const bool is_declared =
        type != token && (is_dims || (type->is_name() && bytes_of_type({type, type + 1}) != 0));
    if (is_declared && (token[1].is("(") || token[1].is("{"))) {
      const TokenRange inside{token + 2, skip_group(token + 1, text.last) - 1};
      if (is_dims) return called("dim3", split_at_commas(inside), there, depth);
      if (inside.empty()) continue;
      if (auto found = root(name, inside, there, depth, is_global)) return found;
    }
  }
  return std::nullopt;
}

bool Evaluator::is_of_function(const Token* place, const std::string& name) const {
  const auto declares = [&](const Token* token) {
    const Token* type = token - 1;
    while (type->is("&") || type->is("*") || type->is("const")) --type;
    return is_one_of(*type, {"auto", "dim3"}) || bytes_of_type({type, type + 1}) != 0;
  };
  for (const SourceFunction* here = source_.around(place); here != nullptr; here = here->outer) {
    const auto places = source_.places_of(name, {here->body.first, place});
    if (std::any_of(places.begin(), places.end(), declares)) return true;
    if (std::any_of(here->parameters.begin(), here->parameters.end(),
                    [&](const SourceParameter& one) { return one.name == name; })) {
      return true;
    }
  }
  return false;
}

// Whether "const T name = VALUE" is defined outside of functions and their parameters.
bool Evaluator::is_constant(const std::string& name) const {
  const TokenRange all = source_.all();
  const auto places = source_.places_of(name, all);
  return std::any_of(places.begin(), places.end(), [&](const Token* token) {
    if (token + 1 == all.last || !is_one_of(token[1], {"=", "(", "{"})) return false;
    if (token[1].is("(") && !is_initial(token + 1, all.last)) return false;
    if (source_.around(token) != nullptr || token == all.first || !token[-1].is_name())
      return false;
    const Token* at = token;
    while (at != all.first && !is_one_of(at[-1], {";", "{", "}", "(", "<", ">", "*"})) --at;
    const bool is_whole = at == all.first || is_one_of(at[-1], {";", "{", "}"});
    return is_whole && std::any_of(at, token, [](const Token& one) {
             return is_one_of(one, {"const", "constexpr"});
           });
  });
}

std::optional<HostValue> Evaluator::named(const std::string& name, const Scope& scope, int depth) {
  if (depth > kDeepest) return std::nullopt;
  if (const auto found = scope.bound.find(name); found != scope.bound.end()) return found->second;
  if (scope.hidden.count(name) != 0) return std::nullopt;
  const auto macro = source_.source().macros.find(name);
  if (macro != source_.source().macros.end() && !macro->second.takes_arguments) {
    const std::vector<Token>& body = macro->second.body;
    return root(name, {body.data(), body.data() + body.size()}, scope, depth, true);
  }
  if (name == "argc") return whole_value(1);
  bool is_lost = false;
  if (auto found = in_functions(name, scope, depth, is_lost); found || is_lost) return found;
  if (auto found = in_constructors(name, depth)) return found;
  const Scope outside;
  if (auto found = defined_in(source_.all(), name, outside, depth, true)) return found;
  if (is_dims(name)) return std::nullopt;  // a shape is no number
  free.insert(name);
  const auto other = overrides.find(name);
  if (other == overrides.end()) return std::nullopt;
  return whole_value(other->second);
}

bool Evaluator::is_dims(const std::string& name) const {
  const TokenRange all = source_.all();
  const auto places = source_.places_of(name, all);
  return std::any_of(places.begin(), places.end(), [&](const Token* token) {
    return token != all.first && type_before(token, all.first)->is("dim3");
  });
}

Scope Evaluator::outside_of(const Scope& scope) const {
  const SourceFunction* outer = source_.outside_of(*scope.function);
  return {outer, outer == nullptr ? nullptr : scope.function->body.first, {}};
}

// Looks for definitions, and for arguments of calls, in the function and in the functions around a
// lambda. `is_lost` becomes true for a dim3 with an unknown component.
std::optional<HostValue> Evaluator::in_functions(const std::string& name, const Scope& scope,
                                                 int depth, bool& is_lost) {
  for (Scope here = scope; here.function != nullptr; here = outside_of(here)) {
    const TokenRange body = here.function->body;
    if (here.at > body.first && here.at <= body.last) {
      const TokenRange text{body.first, here.at};
      auto found = defined_in(text, name, here, depth, false);
      if (!found || found->dims) found = with_components(name, text, here, found, depth, is_lost);
      if (found || is_lost) return found;
    }
    if (const auto argument = argument_of(name, here)) {
      if (auto found = value(argument->words, argument->scope, depth)) return found;
    }
  }
  return std::nullopt;
}

// Returns the value that a constructor's initializer list gives to a member.
std::optional<HostValue> Evaluator::in_constructors(const std::string& name, int depth) {
  for (const SourceFunction& function : source_.functions()) {
    for (const MemberInitial& initial : function.initials) {
      if (initial.name != name || initial.words.empty()) continue;
      const Scope there{&function, function.body.first, {}};
      const auto parts = split_at_commas(initial.words);
      if (parts.size() > 1) return called("dim3", parts, there, depth);
      if (auto found = root(name, initial.words, there, depth, true)) return found;
    }
  }
  return std::nullopt;
}

// Returns a dim3 with the values that were assigned to its components after it was made.
std::optional<HostValue> Evaluator::with_components(const std::string& name, TokenRange text,
                                                    const Scope& scope,
                                                    std::optional<HostValue> whole, int depth,
                                                    bool& is_lost) {
  const Token* const made = std::max(text.first, whole_words(source_, text, name).first);
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string letter(1, static_cast<char>('x' + i));
    const TokenRange words = assigned_last(source_, text, {name, letter});
    is_lost |= is_changed_after(source_, std::max(made, words.first), text, {name, letter});
    if (words.empty() || words.first < made) continue;
    Scope there = scope;
    there.at = words.first - 4;
    const auto component = value(words, there, depth);
    is_lost |= !component;
    if (is_lost) return std::nullopt;
    if (!whole) whole = called("dim3", {}, scope, depth);
    (*whole->dims)[i] = component->whole();
  }
  return is_lost ? std::nullopt : whole;
}

std::optional<Evaluator::Argument> Evaluator::argument_of(const std::string& parameter,
                                                          const Scope& scope) {
  if (scope.function == nullptr) return std::nullopt;
  const auto& own = scope.function->parameters;
  const auto& templates = scope.function->template_parameters;
  const auto found =
      std::find_if(own.begin(), own.end(), [&](const auto& one) { return one.name == parameter; });
  const bool is_template =
      std::find(templates.begin(), templates.end(), parameter) != templates.end();
  if (found == own.end() && !is_template) return std::nullopt;
  for (const FunctionCall& call : source_.calls_of(*scope.function)) {
    if (scope.call != nullptr && scope.call != call.at) continue;
    const TokenRange given = call.given_for(parameter);
    if (given.empty()) continue;
    return Argument{given, {source_.around(call.at), call.at, {}}};
  }
  if (found == own.end() || found->initial.empty()) return std::nullopt;
  return Argument{found->initial, Scope{}};
}

// Returns name.x: the value assigned to the component, else the component of the dim3.
std::optional<HostValue> Evaluator::component(const std::string& name, int index,
                                              const Scope& scope, int depth) {
  const std::string letter(1, static_cast<char>('x' + index));
  const auto bound = scope.bound.find(name);
  const bool is_bound = bound != scope.bound.end() && bound->second.dims;
  if (!is_bound && scope.hidden.count(name) == 0) {
    if (const auto assigned = member(name, letter, {}, scope, depth)) return assigned;
  }
  const auto whole = named(name, scope, depth);
  if (!whole) return std::nullopt;
  if (whole->dims) return whole_value((*whole->dims)[static_cast<std::size_t>(index)]);
  return index == 0 ? whole : whole_value(1);
}

// Returns the element `index` of an array defined as "int name[] = {32, 64, 128}".
std::optional<HostValue> Evaluator::element(const std::string& name, std::int64_t index,
                                            const Scope& scope, int depth) {
  const TokenRange all = source_.all();
  for (const Token* token : source_.places_of(name, all)) {
    if (token + 4 >= all.last || !token[1].is("[")) continue;
    const Token* open = skip_group(token + 1, all.last);
    if (open + 1 >= all.last || !open->is("=") || !open[1].is("{")) continue;
    const auto parts = split_at_commas({open + 2, skip_group(open + 1, all.last) - 1});
    if (index < 0 || static_cast<std::size_t>(index) >= parts.size()) return std::nullopt;
    return value(parts[static_cast<std::size_t>(index)], scope, depth);
  }
  return std::nullopt;
}

std::optional<HostValue> Evaluator::called(const TextCall& call, const Scope& scope, int depth) {
  const std::string& name = call.at->text;
  const SourceFunction* function = source_.function(name, call.arguments.size());
  if (function == nullptr || source_.source().macros.count(name) != 0) {
    return called(name, call.arguments, scope, depth);
  }
  const std::set<std::string> free_before = free;
  const auto result = run_function(*this, source_, *function, call, scope, depth + 1);
  if (result) return result->returned.value;
  free = free_before;
  not_run.insert(name);
  return called(name, call.arguments, scope, depth);
}

std::optional<HostValue> Evaluator::called(const std::string& name,
                                           const std::vector<TokenRange>& arguments,
                                           const Scope& scope, int depth) {
  if (depth > kDeepest) return std::nullopt;
  std::vector<HostValue> values;
  for (const TokenRange& words : arguments) {
    const auto found = value(words, scope, depth);
    if (!found && name == "min") continue;  // mostly a limit of the device
    if (!found) return std::nullopt;
    values.push_back(*found);
  }
  if (name == "min" && values.size() == 1) return values[0];
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
  if (scope.function != nullptr && values.size() == 1) {  // T(2)
    const auto& types = scope.function->template_parameters;
    if (std::find(types.begin(), types.end(), name) != types.end()) return values[0];
  }
  const auto found = library_function(name, values);
  if (!found && source_.function(name) == nullptr) not_found.insert(name);
  return found;
}

}  // namespace tessera::checking
