#include "check/propose/host_source.h"

#include <algorithm>

namespace tessera::checking {
namespace {

// "<" of the template arguments that end before `last`; null where there are none.
const Token* template_open(const Token* first, const Token* last) {
  int depth = 0;
  for (const Token* token = last; token-- != first;) {
    if (token->is(";") || token->is("{") || token->is("}")) return nullptr;
    depth += token->is(">") ? 1 : token->is(">>>") ? 3 : token->is("<") ? -1 : 0;
    if (depth == 0) return token;
  }
  return nullptr;
}

// Behind the ">" that closes the "<" here.
const Token* skip_angles(const Token* open, const Token* last) {
  int depth = 0;
  for (const Token* token = open; token != last; ++token) {
    if (token->is("(")) token = skip_group(token, last) - 1;
    depth += token->is("<") ? 1 : token->is(">") ? -1 : 0;
    if (depth == 0) return token + 1;
  }
  return last;
}

// "T" and "kBlock" of "template <class T, int kBlock = 4>".
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
    SourceParameter parameter{"", {part.first, end}};
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

}  // namespace

std::string LaunchSite::text() const {
  std::string text = kernel + "<<<";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : ", ") + text_of(shape[i]);
  return text + ">>>";
}

HostSource::HostSource(const std::string& path, const ReadOptions& options)
    : source_(read_words(path, options)) {
  find_functions();
  find_launches();
}

void HostSource::find_functions() {
  const TokenRange whole = all();
  const Token* head = whole.first;  // of the declaration that is being read
  for (const Token* token = whole.first; token != whole.last;) {
    if (token->is(";") || token->is("{") || token->is("}")) {
      head = ++token;  // a brace here belongs to a namespace or a class: look into it
      continue;
    }
    const bool may_begin = token->is("(") && token != head && token[-1].is_name() &&
                           !is_keyword(token[-1]) && !token[-1].is("__launch_bounds__") &&
                           !token[-1].is("__align__") && !token[-1].is("__attribute__");
    if (token->is("=")) {  // an initial value
      while (token != whole.last && !token->is(";")) {
        token = token->is("(") || token->is("{") ? skip_group(token, whole.last) : token + 1;
      }
      continue;
    }
    if (!may_begin) {
      token = token->is("(") ? skip_group(token, whole.last) : token + 1;
      continue;
    }
    const Token* close = skip_group(token, whole.last);
    const Token* body = close;
    while (body != whole.last &&
           (body->is_name() || body->is(":") || body->is(",") || body->is("(") || body->is("->"))) {
      body = body->is("(") ? skip_group(body, whole.last) : body + 1;
    }
    if (body == whole.last || !body->is("{")) {
      token = close;
      continue;
    }
    SourceFunction function;
    function.name = token[-1].text;
    function.parameters = parameters_of({token + 1, close - 1});
    function.body = {body, skip_group(body, whole.last)};
    for (const Token* word = head; word != token; ++word) {
      function.is_kernel |= word->is("__global__");
      function.is_device |= word->is("__global__") || word->is("__device__");
      if (word->is("template") && word[1].is("<")) {
        const Token* end = skip_angles(word + 1, token);
        function.template_parameters = template_names({word + 2, end - 1});
      }
    }
    if (function.is_device) {
      std::set<std::string> own;
      for (const SourceParameter& parameter : function.parameters) own.insert(parameter.name);
      for (const Token* word = head; word != function.body.last; ++word) {
        if (word->is_name() && own.count(word->text) == 0) device_names_.insert(word->text);
      }
    }
    head = token = function.body.last;
    functions_.push_back(std::move(function));
  }
}

void HostSource::find_launches() {
  const TokenRange whole = all();
  for (const Token* token = whole.first; token != whole.last; ++token) {
    if (!token->is("<<<") || token == whole.first) continue;
    const Token* end = token + 1;
    while (end != whole.last && !end->is(">>>")) {
      end = end->is("(") || end->is("{") ? skip_group(end, whole.last) : end + 1;
    }
    if (end == whole.last || end + 1 == whole.last || !end[1].is("(")) continue;
    LaunchSite site;
    const Token* name = token - 1;
    if (name->is(">")) {
      const Token* open = template_open(whole.first, token);
      if (open == nullptr || open == whole.first) continue;
      site.template_arguments = split_at_commas({open + 1, name});
      name = open - 1;
    }
    if (!name->is_name()) continue;
    site.kernel = name->text;
    site.shape = split_at_commas({token + 1, end});
    site.arguments = split_at_commas({end + 2, skip_group(end + 1, whole.last) - 1});
    site.at = name;
    site.line = token->line;
    site.file = source_.files[static_cast<std::size_t>(token->file)];
    launches_.push_back(std::move(site));
  }
}

const SourceFunction* HostSource::around(const Token* token) const {
  for (const SourceFunction& function : functions_) {
    if (token >= function.body.first && token < function.body.last) return &function;
  }
  return nullptr;
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

}  // namespace tessera::checking
