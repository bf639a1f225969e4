#include "check/propose/source/functions.h"

#include <algorithm>

namespace tessera::checking {
namespace {

// Returns the names of template parameters: "T" and "kBlock" of "template <class T, int kBlock =
// 4>".
std::vector<std::string> template_names(TokenRange inside) {
  std::vector<std::string> names;
  for (const TokenRange& part : split_at_commas(inside)) {
    const Token* end =
        std::find_if(part.first, part.last, [](const Token& token) { return token.is("="); });
    if (end != part.first && end[-1].is_name()) names.push_back(end[-1].text);
  }
  return names;
}

std::vector<SourceParameter> parameters_of(TokenRange inside) {
  std::vector<SourceParameter> parameters;
  for (const TokenRange& part : split_at_commas(inside)) {
    const Token* end = std::find_if(
        part.first, part.last, [](const Token& token) { return token.is("=") || token.is("["); });
    SourceParameter parameter{"", {part.first, end}, {}};
    if (end != part.last && end->is("=")) parameter.initial = {end + 1, part.last};
    if (end - part.first > 1 && end[-1].is_name()) parameter.name = end[-1].text;
    if (!part.empty()) parameters.push_back(parameter);
  }
  return parameters;
}

bool is_keyword(const Token& token) {
  static const std::set<std::string> kWords = {"if",     "for",   "while",   "switch",  "return",
                                               "sizeof", "catch", "do",      "else",    "new",
                                               "delete", "throw", "alignas", "decltype"};
  return kWords.count(token.text) != 0;
}

// Whether this "(" may open the parameters in the head of a function, not the arguments of a call.
bool may_be_head(const Token* open, const Token* head) {
  return open->is("(") && open != head && open[-1].is_name() && !is_keyword(open[-1]) &&
         !open[-1].is("__launch_bounds__") && !open[-1].is("__align__") &&
         !open[-1].is("__attribute__");
}

class FunctionReader {
 public:
  FunctionReader(const SourceWords& source, SourceFunctions& found)
      : all_{source.tokens.data(), source.tokens.data() + source.tokens.size()}, found_(found) {}

  void functions() {
    const Token* head = all_.first;  // start of the declaration that is being read
    for (const Token* token = all_.first; token != all_.last;) {
      if (token->is(";") || token->is("{") || token->is("}")) {
        head = ++token;  // a brace here belongs to a namespace or a class: look into it
      } else if (token->is("template") && token[1].is("<")) {
        const Token* end = skip_angles(token + 1, all_.last);
        token = end == all_.last ? token + 1 : end;
      } else if (token->is("=") && !token[-1].is("operator")) {  // an initial value
        while (token != all_.last && !token->is(";")) {
          token = token->is("(") || token->is("{") ? skip_group(token, all_.last) : token + 1;
        }
      } else if (!may_be_head(token, head)) {
        token = token->is("(") ? skip_group(token, all_.last) : token + 1;
      } else {
        token = function(head, token);
      }
    }
  }

  // Finds lambdas: "name = [captures](parameters) {...}".
  void lambdas() {
    for (const Token* token = all_.first; token + 4 < all_.last; ++token) {
      if (!token->is_name() || !token[1].is("=") || !token[2].is("[")) continue;
      const Token* next = skip_group(token + 2, all_.last);
      SourceFunction lambda;
      lambda.name = token->text;
      if (next != all_.last && next->is("<")) {
        const Token* end = skip_angles(next, all_.last);
        lambda.template_parameters = template_names({next + 1, end - 1});
        next = end;
      }
      bool is_device = false;
      while (next != all_.last && (next->is_name() || next->is("->") || next->is("(")) &&
             !next->is("{")) {
        is_device |= next->is("__device__");
        const Token* end = next->is("(") ? skip_group(next, all_.last) : next + 1;
        if (next->is("(") && lambda.parameters.empty()) {
          lambda.parameters = parameters_of({next + 1, end - 1});
        }
        next = end;
      }
      if (is_device || next == all_.last || !next->is("{")) continue;
      lambda.body = {next, skip_group(next, all_.last)};
      found_.functions.push_back(std::move(lambda));
    }
  }

 private:
  // Reads the function whose parameters begin at `open`. Returns the token after the function, or
  // after the words if they are not a function.
  const Token* function(const Token*& head, const Token* open) {
    const Token* close = skip_group(open, all_.last);
    if (open[-1].is("operator") && close != all_.last && close->is("(")) {
      open = close;  // operator()(parameters)
      close = skip_group(open, all_.last);
    }
    SourceFunction function;
    const Token* body = body_behind(close, function.initials);
    if (body == all_.last || !body->is("{")) return close;
    function.name = open[-1].text;
    function.returns = returned_type(head, open - 1, close, body);
    function.is_constructor = is_constructor(head, open - 1);
    function.parameters = parameters_of({open + 1, close - 1});
    function.body = {body, skip_group(body, all_.last)};
    for (const Token* word = head; word != open; ++word) {
      function.is_kernel |= word->is("__global__");
      function.is_device |= word->is("__global__") || word->is("__device__");
      if (word->is("template") && word[1].is("<")) {
        const Token* end = skip_angles(word + 1, open);
        function.template_parameters = template_names({word + 2, end - 1});
      }
    }
    if (function.is_device) note_names(head, function);
    head = function.body.last;
    found_.functions.push_back(std::move(function));
    return head;
  }

  // Skips "const noexcept -> T" and the initializer list of a constructor; returns the function's
  // body.
  const Token* body_behind(const Token* close, std::vector<MemberInitial>& initials) const {
    const Token* token = close;
    bool in_list = false;
    while (token != all_.last) {
      in_list |= token->is(":");
      const bool may_be_member = in_list && (token[-1].is_name() || token[-1].is(">"));
      if (token->is("(") || (token->is("{") && may_be_member)) {
        const Token* end = skip_group(token, all_.last);
        if (may_be_member) initials.push_back({token[-1].text, {token + 1, end - 1}});
        token = end;
      } else if (in_list && token->is("<")) {
        token = skip_angles(token, all_.last);
      } else if (token->is_name() || token->is(":") || token->is("::") || token->is(",") ||
                 token->is("->") || token->is(".")) {
        ++token;
      } else {
        break;
      }
    }
    return token;
  }

  // Returns the type that the function returns: "T" of "space::T f(" and of "auto f() -> T {".
  static std::string returned_type(const Token* head, const Token* name, const Token* close,
                                   const Token* body) {
    const Token* arrow = std::find_if(close, body, [](const Token& one) { return one.is("->"); });
    const Token* last = arrow != body ? body : name;
    const bool has_type = last - head > 0 && last[-1].is_name();
    return has_type ? last[-1].text : "";
  }

  static bool is_constructor(const Token* head, const Token* name) {
    if (name == head || name[-1].is(":") || name[-1].is("explicit")) return true;
    return name[-1].is("::") && name - head >= 2 && name[-2].text == name->text;
  }

  void note_names(const Token* head, const SourceFunction& function) {
    std::set<std::string> own;
    for (const SourceParameter& parameter : function.parameters) own.insert(parameter.name);
    for (const Token* word = head; word != function.body.last; ++word) {
      if (word->is_name() && own.count(word->text) == 0) found_.device_names.insert(word->text);
    }
  }

  const TokenRange all_;
  SourceFunctions& found_;
};

}  // namespace

SourceFunctions find_functions(const SourceWords& source) {
  SourceFunctions found;
  FunctionReader reader(source, found);
  reader.functions();
  reader.lambdas();
  return found;
}

}  // namespace tessera::checking
