// Values of expressions that are more than a number: structs, tuples, lists, results of functions.
#include <algorithm>
#include <array>

#include "check/propose/expression.h"
#include "check/propose/run_function.h"
#include "check/propose/source/structs.h"

namespace tessera::checking {
namespace {

bool leads_to_member(const Token& token) { return token.is(".") || token.is("->"); }

// Returns the token after "space::name<arguments>". `name` becomes the last name in it.
const Token* behind_name(TokenRange words, const Token*& name) {
  const Token* token = words.first;
  name = nullptr;
  while (token != words.last) {
    if (token->is_name()) {
      if (name == token - 1 && name != nullptr) return token;
      name = token++;
    } else if (token->is("::") || (leads_to_member(*token) && name != nullptr)) {
      ++token;
    } else if (token->is("<") && name != nullptr && name == token - 1) {
      token = skip_angles(token, words.last);
    } else {
      break;
    }
  }
  return token;
}

std::vector<std::string> names_of_fields(const HostSource& source, const std::string& type) {
  if (type == "cudaLaunchConfig_t") return {"gridDim", "blockDim", "dynamicSmemBytes", "stream"};
  std::vector<std::string> names;
  for (const SourceField& field : fields_of(source, type)) names.push_back(field.name);
  return names;
}

bool makes_tuple(const Token& name) {
  constexpr std::array kNames = {"make_pair", "make_tuple", "pair", "tuple", "array"};
  return std::any_of(kNames.begin(), kNames.end(), [&](const char* one) { return name.is(one); });
}

}  // namespace

HostObject FunctionResult::variable(const std::string& name) const {
  HostObject object;
  for (const auto& [path, value] : variables) {
    if (path == name) object.value = value;
    if (path.starts_with(name + ".")) object.fields[path.substr(name.size() + 1)] = value;
  }
  return object;
}

const SourceFunction* called_by(const HostSource& source, TokenRange words, TextCall& call) {
  const Token* name = nullptr;
  const Token* open = behind_name(words, name);
  if (name == nullptr || open == words.last || !open->is("(")) return nullptr;
  if (skip_group(open, words.last) != words.last) return nullptr;
  call.at = name;
  if (name[1].is("<")) {
    call.template_arguments = split_at_commas({name + 2, skip_angles(name + 1, words.last) - 1});
  }
  call.arguments = split_at_commas({open + 1, words.last - 1});
  return source.function(name->text, call.arguments.size());
}

bool sets_argument(const SourceParameter& parameter) {
  const auto has = [&](const char* what) {
    return std::any_of(parameter.words.first, parameter.words.last,
                       [&](const Token& token) { return token.is(what); });
  };
  return (has("&") || has("*")) && !has("const");
}

void add_defaults(Evaluator& evaluator, const HostSource& source, const std::string& type,
                  HostObject& object, int depth) {
  for (const SourceField& field : fields_of(source, type)) {
    if (field.is_pointer || object.fields.count(field.name) != 0) continue;
    std::optional<HostValue> value;
    if (!field.initial.empty()) value = evaluator.value(field.initial, Scope{}, depth);
    if (field.initial.empty() && field.type == "dim3") {
      value = evaluator.called("dim3", std::vector<TokenRange>{}, Scope{}, depth);
    }
    if (value) object.fields[field.name] = *value;
  }
}

HostObject object_of(Evaluator& evaluator, const HostSource& source, TokenRange words,
                     const Scope& scope, const std::string& type, int depth) {
  HostObject object;
  if (words.empty()) return object;
  if (words.size() == 1 && words.first->is_name()) {
    const std::string& name = words.first->text;
    object = FunctionResult{{}, scope.bound}.variable(name);
    if (!object.is_known()) object.value = evaluator.value(words, scope, depth);
    return object;
  }
  TextCall call;
  if (const SourceFunction* function = called_by(source, words, call)) {
    const auto result = run_function(evaluator, source, *function, call, scope, depth + 1);
    if (result && result->returned.is_known()) return result->returned;
  }
  const Token* name = nullptr;
  const Token* open = behind_name(words, name);
  const bool is_whole = open != words.last && skip_group(open, words.last) == words.last;
  std::vector<std::string> fields = names_of_fields(source, name != nullptr ? name->text : type);
  const bool is_list = is_whole && (open->is("{") ? name == nullptr || !name->is("dim3")
                                                  : open->is("(") && name != nullptr &&
                                                        (makes_tuple(*name) || !fields.empty()));
  if (!is_list || (name == nullptr && type == "dim3")) {
    object.value = evaluator.value(words, scope, depth);
    return object;
  }
  std::size_t i = 0;
  for (TokenRange part : split_at_commas({open + 1, words.last - 1})) {
    std::string field = i < fields.size() ? fields[i] : "";
    const bool is_designated = part.size() > 3 && part.first->is(".");
    if (is_designated) {
      field = part.first[1].text;
      part.first += part.first[2].is("=") ? 3 : 2;
    }
    const std::string index = std::to_string(i++);
    if (part.empty()) continue;
    const bool is_dims = part.first->is("{") && skip_group(part.first, part.last) == part.last;
    const auto found =
        is_dims ? evaluator.called("dim3", split_at_commas({part.first + 1, part.last - 1}), scope,
                                   depth)
                : evaluator.value(part, scope, depth);
    if (!found) continue;
    if (!is_designated) object.fields[index] = *found;
    if (!field.empty()) object.fields[field] = *found;
    if (makes_tuple(name != nullptr ? *name : Token{}) && i < 3) {
      object.fields[i == 1 ? "first" : "second"] = *found;
    }
  }
  if (open->is("{")) {
    add_defaults(evaluator, source, name != nullptr ? name->text : type, object, depth);
  }
  return object;
}

}  // namespace tessera::checking
