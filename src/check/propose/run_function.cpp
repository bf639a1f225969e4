#include "check/propose/run_function.h"

#include <algorithm>

#include "check/propose/expression.h"
#include "check/propose/source/structs.h"
#include "check/propose/walk/statement_walk.h"

namespace tessera::checking {
namespace {

constexpr int kDeepestRun = 30;  // depth of nested expressions and function calls
constexpr int kMostRuns = 300;   // function runs per requested value

bool is_path_sign(const Token& token) { return token.is(".") || token.is("->"); }

// Returns "config.gridDim" for "config->gridDim" and "(*config).gridDim", and "config" for
// "*config"; "" for other words.
std::string path_of(TokenRange words) {
  while (!words.empty() && (words.first->is("*") || words.first->is("&"))) ++words.first;
  std::string path;
  const Token* token = words.first;
  if (words.size() > 3 && token->is("(") && token[1].is("*") && token[2].is_name()) {
    path = token[2].text;
    token += 4;
  } else if (token != words.last && token->is_name()) {
    path = (token++)->text;
    if (path == "this" && token + 1 < words.last && is_path_sign(*token)) {
      path = token[1].text;
      token += 2;
    }
  }
  while (!path.empty() && token + 1 < words.last && is_path_sign(*token) && token[1].is_name()) {
    path += "." + token[1].text;
    token += 2;
  }
  return token == words.last ? path : "";
}

class Run : public StatementWalk {
 public:
  Run(Evaluator& evaluator, const HostSource& source, const SourceFunction& function, int depth)
      : evaluator_(evaluator), source_(source), function_(function), depth_(depth) {
    scope_.function = &function;
  }

  void bind(const TextCall& call, const Scope& caller) {
    scope_.call = source_.around(call.at) != &function_ ? call.at : nullptr;
    const auto& templates = function_.template_parameters;
    for (std::size_t i = 0; i < templates.size() && i < call.template_arguments.size(); ++i) {
      const auto found = evaluator_.value(call.template_arguments[i], caller, depth_);
      if (found) scope_.bound[templates[i]] = *found;
    }
    for (std::size_t i = 0; i < function_.parameters.size(); ++i) {
      const SourceParameter& parameter = function_.parameters[i];
      const bool is_given = i < call.arguments.size();
      const TokenRange words = is_given ? call.arguments[i] : parameter.initial;
      if (parameter.name.empty() || words.empty()) continue;
      const auto says = [&](const char* what) {
        return std::any_of(parameter.words.first, parameter.words.last,
                           [&](const Token& token) { return token.is(what); });
      };
      if (says("dim3")) dims_.insert(parameter.name);
      const bool is_null = words.first->is("nullptr") || words.first->is("NULL");
      if (says("*")) pointers_[parameter.name] = !is_null;
      if (is_null) continue;
      const std::set<std::string> free_before = evaluator_.free;
      const HostObject object = object_of(evaluator_, source_, without_casts(words),
                                          is_given ? caller : Scope{}, "", depth_);
      if (!object.is_known() && sets_argument(parameter)) evaluator_.free = free_before;
      set(parameter.name, object);
      scope_.hidden.erase(parameter.name);  // a struct's fields may be told by the text
    }
  }

  FunctionResult result() { return {returned_, scope_.bound}; }

 private:
  std::optional<HostValue> value(TokenRange words) override {
    scope_.at = words.first;
    if (const auto found = is_there(words)) return whole_value(*found);
    return evaluator_.value(words, scope_, depth_);
  }

  // Returns the value of "pointer", "!pointer" or "pointer != nullptr", which follows from whether
  // the call passes a pointer; nullopt for other words.
  std::optional<bool> is_there(TokenRange words) const {
    const bool is_not = !words.empty() && words.first->is("!");
    if (is_not) ++words.first;
    const auto found = words.empty() ? pointers_.end() : pointers_.find(words.first->text);
    if (found == pointers_.end()) return std::nullopt;
    if (words.size() == 1) return found->second != is_not;
    const bool compares = words.size() == 3 && is_one_of(words.first[2], {"nullptr", "NULL"});
    if (!compares || !is_one_of(words.first[1], {"==", "!="})) return std::nullopt;
    return words.first[1].is("!=") == found->second;
  }

  void returns(TokenRange words) override {
    scope_.at = words.first;
    returned_ = object(words, function_.returns);
  }

  bool may_set(const std::string& function) const override {
    return source_.function(function) != nullptr;
  }

  void forget(const std::set<std::string>& variables) override {
    for (const std::string& name : variables) set(name, {});
  }

  // Runs a declaration, an assignment or a call.
  void simple(TokenRange words) override {
    if (is_one_of(*words.first, {"using", "typedef", "static_assert"})) return;
    if (declares(words)) return;
    const Token* sign = std::find_if(words.first, words.last, [](const Token& token) {
      return token.is("=") || is_one_of(token, {"+=", "-=", "*=", "/=", "<<=", ">>="});
    });
    const TokenRange target{words.first, sign};
    if (sign != words.last) {
      if (sign != words.first && target.last[-1].is(")") && binds_several(target, sign, words.last))
        return;
      return assign(target, sign, {sign + 1, words.last});
    }
    if (words.size() > 1 && (steps(words.first[0]) || steps(words.last[-1]))) return step(words);
    call(words);
  }
  static bool steps(const Token& token) { return token.is("++") || token.is("--"); }

  void step(TokenRange words) {
    const bool is_prefix = steps(*words.first);
    const bool is_up = (is_prefix ? *words.first : words.last[-1]).is("++");
    const TokenRange target = is_prefix ? TokenRange{words.first + 1, words.last}
                                        : TokenRange{words.first, words.last - 1};
    const std::string path = path_of(target);
    const auto before = value(target);
    if (path.empty()) return;
    if (!before || before->dims) return set(path, {});
    HostValue after = *before;
    after.integer += is_up ? 1 : -1;
    after.real += is_up ? 1 : -1;
    set(path, {after, {}});
  }

  // Runs a declaration: "T a = 1, b(2)" or "auto [a, b] = f()". Returns false if the words are not
  // a declaration.
  bool declares(TokenRange words) {
    const Token* token = words.first;
    std::string type;
    const Token* name = nullptr;
    int names = 0;
    while (token != words.last) {
      if (token->is_name()) {
        if (names++ > 0 && !token[-1].is("::")) {
          const Token* before = token - 1;
          while (before != words.first && is_one_of(*before, {"&", "*", "const"})) --before;
          if (before->is_name()) type = before->text;
        }
        name = token++;
      } else if (token->is("<") && name == token - 1) {
        const Token* end = skip_angles(token, words.last);
        if (end == words.last || end[-1].is("<")) return false;
        token = end;
      } else if (is_one_of(*token, {"::", "&", "*"}) && name != nullptr) {
        ++token;
      } else {
        break;
      }
    }
    const bool is_binding = token != words.last && token->is("[") && names > 0 && name != nullptr &&
                            (name->is("auto") || token[-1].is("&"));
    if (is_binding)
      return binds_several({token, skip_group(token, words.last)}, skip_group(token, words.last),
                           words.last);
    const bool ends = token == words.last || is_one_of(*token, {"=", "(", "{", ",", "["});
    if (names < 2 || !ends || name != token - 1 || name[-1].is("::")) return false;
    for (const TokenRange& part : split_at_commas({name, words.last})) declare(type, part);
    return true;
  }

  void declare(const std::string& type, TokenRange part) {
    while (!part.empty() && is_one_of(*part.first, {"*", "&"})) ++part.first;
    if (part.empty() || !part.first->is_name()) return;
    const std::string name = part.first->text;
    const Token* next = part.first + 1;
    scope_.at = part.first;
    HostObject made;
    const bool has_list = next != part.last && (next->is("(") || next->is("{"));
    const TokenRange inside = has_list ? TokenRange{next + 1, part.last - 1} : TokenRange{};
    if (type == "dim3" && (next == part.last || has_list || next[1].is("{"))) {
      TokenRange list = inside;
      if (!has_list && next != part.last) list = {next + 2, part.last - 1};
      made.value = evaluator_.called("dim3", split_at_commas(list), scope_, depth_);
    } else if (has_list && next->is("(")) {
      made = object(inside, type);
    } else if (has_list) {
      made = object({next, part.last}, type);
      if (!made.value && made.fields.count("0") != 0 && inside.size() > 0) {
        made.value = made.fields["0"];  // "int n{4}"
      }
    } else if (next != part.last && next->is("=")) {
      made = object({next + 1, part.last}, type);
    }
    const bool is_whole = bytes_of_type({part.first, part.first}) != 0 || is_integer(type);
    if (made.value && is_whole && !made.value->dims) made.value = whole_value(made.value->whole());
    add_defaults(evaluator_, source_, type, made, depth_);
    set(name, made);
    if (next == part.last) scope_.hidden.erase(name);
  }
  static bool is_integer(const std::string& type) {
    Token word;
    word.text = type;
    return type != "float" && type != "double" && type != "float4" &&
           bytes_of_type({&word, &word + 1}) != 0;
  }

  // Runs "[a, b] = VALUE" or "std::tie(a, b) = VALUE". Returns false if the words are neither.
  bool binds_several(TokenRange names, const Token* sign, const Token* last) {
    if (sign == last || !sign->is("=")) return false;
    const Token* open = std::find_if(
        names.first, names.last, [](const Token& token) { return token.is("[") || token.is("("); });
    const bool is_tie = open != names.first && open < names.last && open[-1].is("tie");
    if (open == names.last || (open->is("(") && !is_tie)) return false;
    scope_.at = sign;
    const HostObject all = object({sign + 1, last}, "");
    std::size_t i = 0;
    for (const TokenRange& one : split_at_commas({open + 1, names.last - 1})) {
      const auto found = all.fields.find(std::to_string(i++));
      HostObject element;
      if (found != all.fields.end()) element.value = found->second;
      if (const std::string path = path_of(one); !path.empty()) set(path, element);
    }
    return true;
  }

  void assign(TokenRange target, const Token* sign, TokenRange words) {
    // "%=", "&=", "|=" and "^=" are two tokens each.
    if (target.size() > 1 && is_one_of(target.last[-1], {"%", "&", "|", "^"})) {
      return set(path_of({target.first, target.last - 1}), {});
    }
    const std::string path = path_of(target);
    if (path.empty()) return;
    scope_.at = target.first;
    HostObject made = object(words, "");
    const bool is_list = words.first->is("{") && made.fields.size() <= 3;
    if (is_list && std::none_of(made.fields.begin(), made.fields.end(),
                                [](const auto& one) { return one.second.dims.has_value(); })) {
      made.value = evaluator_.called("dim3", split_at_commas({words.first + 1, words.last - 1}),
                                     scope_, depth_);  // or a struct of numbers
    }
    if (!sign->is("=")) {
      std::vector<Token> sum(target.first, target.last);
      Token operation = *sign;
      operation.text = sign->text.substr(0, sign->text.size() - 1);
      Token open = operation, close = operation;
      open.text = "(";
      close.text = ")";
      sum.push_back(operation);
      sum.push_back(open);
      sum.insert(sum.end(), words.first, words.last);
      sum.push_back(close);
      made = {evaluator_.value({sum.data(), sum.data() + sum.size()}, scope_, depth_), {}};
    }
    const auto before = scope_.bound.find(path);
    const bool was_whole =
        before != scope_.bound.end() && !before->second.is_real && !before->second.dims;
    if (was_whole && made.value && made.value->is_real) {
      made.value = whole_value(made.value->whole());
    }
    set(path, made);
  }

  // Runs a call. A function of the source may set variables that it gets by reference; variables
  // whose address is passed to any other function become unknown.
  void call(TokenRange words) {
    TextCall call;
    const SourceFunction* function = called_by(source_, words, call);
    if (function == nullptr || depth_ > kDeepestRun) {
      for (const Token* token = words.first; token + 1 < words.last; ++token) {
        if (token->is("&") && token[1].is_name() && is_one_of(token[-1], {"(", ","})) {
          set(token[1].text, {});
        }
      }
      return;
    }
    scope_.at = words.first;
    const auto result = run_function(evaluator_, source_, *function, call, scope_, depth_ + 1);
    for (std::size_t i = 0; i < call.arguments.size() && i < function->parameters.size(); ++i) {
      const SourceParameter& parameter = function->parameters[i];
      const std::string path = path_of(without_casts(call.arguments[i]));
      if (!sets_argument(parameter) || path.empty()) continue;
      set(path, result ? result->variable(parameter.name) : HostObject{});
    }
  }

  HostObject object(TokenRange words, const std::string& type) {
    return object_of(evaluator_, source_, words, scope_, type, depth_);
  }

  // Sets a variable. WHY its old fields are erased: the whole variable has a new value.
  void set(const std::string& path, const HostObject& object) {
    if (path.empty()) return;
    const std::size_t dot = path.rfind('.');
    const bool is_component = dot != path.npos && path.size() - dot == 2 && path.back() >= 'x';
    if (is_component && path.back() <= 'z' &&
        set_component(path.substr(0, dot), static_cast<std::size_t>(path.back() - 'x'), object)) {
      return;
    }
    std::erase_if(scope_.bound, [&](const auto& one) { return one.first.starts_with(path + "."); });
    scope_.bound.erase(path);
    if (!object.is_known()) scope_.hidden.insert(path);
    if (object.is_known()) scope_.hidden.erase(path);
    if (object.value) scope_.bound[path] = *object.value;
    for (const auto& [field, value] : object.fields) {
      scope_.bound[std::string(path).append(".").append(field)] = value;
    }
  }

  // Sets a component of a dim3; a dim3 with an unknown component is unknown. Returns false if the
  // variable is not a dim3.
  bool set_component(const std::string& parent, std::size_t index, const HostObject& object) {
    const auto found = scope_.bound.find(parent);
    const bool has_dims = found != scope_.bound.end() && found->second.dims;
    if (!has_dims && dims_.count(parent) == 0 && !parent.ends_with("Dim")) return false;
    if (!object.value) {
      set(parent, {});
      return true;
    }
    if (!has_dims && scope_.hidden.count(parent) != 0) return true;
    HostValue& whole = scope_.bound[parent];
    if (!whole.dims) whole.dims = {1, 1, 1};
    (*whole.dims)[index] = object.value->whole();
    return true;
  }

  Evaluator& evaluator_;
  const HostSource& source_;
  const SourceFunction& function_;
  const int depth_;
  Scope scope_;                           // `bound` holds the function's variables
  std::set<std::string> dims_;            // parameters that are dim3
  std::map<std::string, bool> pointers_;  // pointer parameters: whether the call gives them
  HostObject returned_;
};

}  // namespace

std::optional<FunctionResult> run_function(Evaluator& evaluator, const HostSource& source,
                                           const SourceFunction& function, const TextCall& call,
                                           const Scope& caller, int depth) {
  if (depth > kDeepestRun || ++evaluator.runs > kMostRuns) return std::nullopt;
  Run run(evaluator, source, function, depth);
  run.bind(call, caller);
  if (!run.comes_to_its_end(function.body)) return std::nullopt;
  return run.result();
}

}  // namespace tessera::checking
