// Finds the values that a program gives to the fields of its structs.
#include <algorithm>

#include "check/propose/evaluate.h"
#include "check/propose/run_function.h"
#include "check/propose/source/structs.h"

namespace tessera::checking {
namespace {

constexpr int kMostVariables =
    40;  // variables that stand for others, before they are taken for endless

bool is_type_name(const Token& token) {
  return token.is_name() && !token.is("return") && !token.is("else") && !token.is("const");
}

// Returns "Params" for "Params p", "const Params& p" and "Params* p"; "" if the text declares no
// such variable.
std::string declared_type(const HostSource& source, TokenRange text, const std::string& name) {
  const auto places = source.places_of(name, text);
  for (std::size_t i = places.size(); i-- != 0;) {
    const Token* token = places[i];
    if (token == text.first) continue;
    const Token* type = token - 1;
    while (type != text.first && (type->is("&") || type->is("*") || type->is("const"))) --type;
    if (is_type_name(*type)) return type->text;
  }
  return "";
}

// The expression that the function returns.
TokenRange returned_by(const SourceFunction& function) {
  for (const Token* token = function.body.first; token != function.body.last; ++token) {
    if (token->is("return")) return up_to_end(token + 1, function.body.last);
  }
  return {};
}

}  // namespace

std::optional<HostValue> Evaluator::field(TokenRange words, const std::string& field,
                                          const FieldOrder& order, const Scope& scope, int depth) {
  if (depth > kMostVariables) return std::nullopt;
  words = without_casts(words);
  if (words.size() == 3 && words.first->is("this")) words.first += 2;
  if (words.empty()) return std::nullopt;
  if (words.size() == 1) return member(words.first->text, field, order, scope, depth + 1);
  FieldOrder own;
  if (words.first->is_name()) {
    for (const SourceField& one : fields_of(source_, words.first->text)) own.push_back(one.name);
  }
  if (const auto listed = listed_field(words, field, own.empty() ? order : own)) {
    return root("." + field, *listed, scope, depth, false);
  }
  TextCall call;
  const SourceFunction* function = called_by(source_, words, call);
  if (function == nullptr) return std::nullopt;
  if (const auto result = run_function(*this, source_, *function, call, scope, depth + 1)) {
    const auto place = std::find(order.begin(), order.end(), field) - order.begin();
    for (const std::string& name : {field, std::to_string(place)}) {
      const auto found = result->returned.fields.find(name);
      if (found != result->returned.fields.end()) return found->second;
    }
  }
  const TokenRange returned = returned_by(*function);
  if (returned.empty()) return std::nullopt;
  return this->field(returned, field, order, {function, returned.first, {}, words.first},
                     depth + 1);
}

// Returns the value last assigned to the member before this point, else its initial value.
std::optional<HostValue> Evaluator::member(const std::string& name, const std::string& field,
                                           const FieldOrder& order, const Scope& scope, int depth) {
  if (depth > kMostVariables) return std::nullopt;
  for (Scope here = scope; here.function != nullptr; here = outside_of(here)) {
    const TokenRange body = here.function->body;
    if (here.at > body.first && here.at <= body.last) {
      const TokenRange text{body.first, here.at};
      if (auto found = member_in(text, name, field, order, here, depth)) return found;
    }
    if (const auto argument = argument_of(name, here)) {
      return this->field(argument->words, field, order, argument->scope, depth + 1);
    }
  }
  for (const SourceFunction& function : source_.functions()) {
    for (const MemberInitial& initial : function.initials) {
      if (initial.name != name || initial.words.empty()) continue;
      const Scope there{&function, function.body.first, {}};
      if (auto found = this->field(initial.words, field, order, there, depth + 1)) return found;
    }
  }
  const bool is_component = field.size() == 1 && field[0] >= 'x' && field[0] <= 'z';
  if (is_component) return std::nullopt;
  return member_in(source_.all(), name, field, order, Scope{}, depth);
}

std::optional<HostValue> Evaluator::member_in(TokenRange text, const std::string& name,
                                              const std::string& field, const FieldOrder& order,
                                              const Scope& scope, int depth) {
  const auto place = [&](const Token* at) {
    Scope there = scope;
    there.at = at;
    if (there.function == nullptr) there.function = source_.around(at);
    return there;
  };
  const std::string full = name + "." + field;
  const TokenRange assigned = assigned_last(source_, text, {name, field});
  const TokenRange whole = whole_words(source_, text, name);
  const Token* const made = std::max({text.first, assigned.first, whole.first});
  if (is_changed_after(source_, made, text, {name, field})) return std::nullopt;
  const auto places = source_.places_of(name, text);
  for (std::size_t i = places.size(); i-- != 0;) {
    if (!assigned.empty() && assigned.first > places[i]) break;
    if (!whole.empty() && whole.first > places[i]) break;
    const auto object = filled_at(places[i], text, place(places[i]), depth + 1);
    if (!object) continue;
    const auto found = object->fields.find(field);
    if (found != object->fields.end()) return found->second;
    if (!object->is_known()) return std::nullopt;
  }
  if (!assigned.empty() && (whole.empty() || assigned.first > whole.first)) {
    if (auto found = root(full, assigned, place(assigned.first - 4), depth, false)) return found;
  }
  const std::vector<SourceField> fields = fields_of(source_, declared_type(source_, text, name));
  FieldOrder own;
  for (const SourceField& one : fields) own.push_back(one.name);
  const FieldOrder& in_order = own.empty() ? order : own;
  if (const auto listed = listed_field(whole, field, in_order)) {
    return root(full, *listed, place(whole.first), depth, false);
  }
  if (!whole.empty()) {
    if (auto found = this->field(whole, field, in_order, place(whole.first), depth + 1)) {
      return found;
    }
  }
  const auto declared = std::find_if(fields.begin(), fields.end(),
                                     [&](const SourceField& one) { return one.name == field; });
  if (declared == fields.end() || declared->initial.empty()) return std::nullopt;
  return root(full, declared->initial, Scope{}, depth, false);
}

// The size of a container defined as "std::vector<float> name(n)".
std::optional<HostValue> Evaluator::size_of_container(const std::string& name, const Scope& scope,
                                                      int depth) {
  for (Scope here = scope; here.function != nullptr; here = outside_of(here)) {
    if (here.at == nullptr) break;
    for (const Token* token : source_.places_of(name, {here.function->body.first, here.at})) {
      if (!token[-1].is(">") || !token[1].is("(")) continue;
      const Token* close = skip_group(token + 1, here.function->body.last);
      const auto given = split_at_commas({token + 2, close - 1});
      Scope there = here;
      there.at = token;
      return given.empty() ? std::nullopt : value(given[0], there, depth);
    }
  }
  return std::nullopt;
}

}  // namespace tessera::checking
