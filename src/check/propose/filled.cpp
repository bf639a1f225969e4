// Finds variables that get their values together with other variables, or from a function to which
// the variable is passed.
#include <algorithm>

#include "check/propose/run_function.h"

namespace tessera::checking {
namespace {

// Returns the "(" or "[" of the group around the token, if the group holds only names between
// commas; else null.
const Token* open_of_names(const Token* token, const Token* first) {
  while (token != first && (token->is_name() || token->is(","))) --token;
  return token->is("[") || token->is("(") ? token : nullptr;
}

// Returns the "(" of the argument list that contains the token.
const Token* open_of_arguments(const Token* token, const Token* first) {
  while (token != first) {
    --token;
    if (token->is(";") || token->is("{") || token->is("}") || token->is("=")) return nullptr;
    if (token->is(")") || token->is("]"))
      token = group_open(token, first);
    else if (token->is("("))
      return token;
  }
  return nullptr;
}

std::size_t index_of(const std::vector<TokenRange>& parts, const Token* place) {
  const auto holds = [&](const TokenRange& one) { return one.first <= place && place < one.last; };
  return static_cast<std::size_t>(std::find_if(parts.begin(), parts.end(), holds) - parts.begin());
}

}  // namespace

std::optional<HostObject> Evaluator::set_at(const Token* place, TokenRange text, const Scope& scope,
                                            int depth) {
  if (place == text.first || place + 1 >= text.last) return std::nullopt;
  if (!place[1].is(",") && !place[1].is(")") && !place[1].is("]")) return std::nullopt;
  if (const auto bound = bound_at(place, text, scope, depth)) return bound;
  return filled_at(place, text, scope, depth);
}

std::optional<HostObject> Evaluator::bound_at(const Token* place, TokenRange text,
                                              const Scope& scope, int depth) {
  const Token* open = open_of_names(place, text.first);
  if (open == nullptr || open == text.first) return std::nullopt;
  const Token* before = open - 1;
  if (before->is("&") && before != text.first) --before;
  const bool binds = open->is("[") ? before->is("auto") : before->is("tie");
  const Token* close = skip_group(open, text.last);
  if (!binds || close >= text.last || !close->is("=")) return std::nullopt;
  const std::size_t index = index_of(split_at_commas({open + 1, close - 1}), place);
  const HostObject all =
      object_of(*this, source_, up_to_end(close + 1, text.last), scope, "", depth + 1);
  const auto found = all.fields.find(std::to_string(index));
  HostObject one;
  if (found != all.fields.end()) one.value = found->second;
  return one;
}

// Returns the parameter that gets the variable at `place`, if the function may set the variable.
const SourceParameter* Evaluator::filled_by(const Token* place, TokenRange text, TextCall& call,
                                            const SourceFunction*& function) const {
  if (place == text.first || place + 1 >= text.last) return nullptr;
  const bool is_whole = (place[1].is(",") || place[1].is(")")) &&
                        (place[-1].is("(") || place[-1].is(",") || place[-1].is("&"));
  const Token* open = is_whole ? open_of_arguments(place, text.first) : nullptr;
  if (open == nullptr) return nullptr;
  const Token* name = open;
  if (name != text.first && name[-1].is(">")) {
    while (name != text.first && !name->is("<") && !name->is(";")) --name;
  }
  if (name == text.first || !name[-1].is_name()) return nullptr;
  function = called_by(source_, {name - 1, skip_group(open, source_.all().last)}, call);
  const std::size_t index = index_of(call.arguments, place);
  if (function == nullptr || function->is_kernel || index >= function->parameters.size()) {
    return nullptr;
  }
  const SourceParameter& parameter = function->parameters[index];
  const bool by_address = std::any_of(parameter.words.first, parameter.words.last,
                                      [](const Token& token) { return token.is("*"); });
  // A pointer that is passed by value does not change.
  const bool is_set = sets_argument(parameter) && by_address == place[-1].is("&");
  return parameter.name.empty() || !is_set ? nullptr : &parameter;
}

std::optional<HostObject> Evaluator::filled_at(const Token* place, TokenRange text,
                                               const Scope& scope, int depth) {
  TextCall call;
  const SourceFunction* function = nullptr;
  const SourceParameter* parameter = filled_by(place, text, call, function);
  if (parameter == nullptr) return std::nullopt;
  const auto result = run_function(*this, source_, *function, call, scope, depth + 1);
  if (result) return result->variable(parameter->name);
  not_run.insert(function->name);
  return HostObject{};
}

}  // namespace tessera::checking
