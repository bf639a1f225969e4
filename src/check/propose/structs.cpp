#include "check/propose/structs.h"

#include <cstdlib>

namespace tessera::checking {
namespace {

// The "{" of "struct NAME {" or of "typedef struct {...} NAME"; null where there is none.
const Token* body_of(TokenRange all, const std::string& name) {
  for (const Token* token = all.first; token + 2 < all.last; ++token) {
    if (!token->is("struct") && !token->is("class")) continue;
    const Token* open = token + 1;
    while (open != all.last && (open->is_name() || open->is("(") || open->is(","))) {
      open = open->is("(") ? skip_group(open, all.last) : open + 1;
    }
    if (open == all.last || !open->is("{")) continue;
    const Token* close = skip_group(open, all.last);
    const bool is_after = close != all.last && close->is_name() && close->text == name;
    if (is_after || (open[-1].is_name() && open[-1].text == name)) return open;
  }
  return nullptr;
}

// "const float *a, *b" without its ";". False for what is no plain declaration.
bool add_fields(TokenRange words, std::vector<SourceField>& fields) {
  std::string type;
  const Token* at = words.first;
  for (; at + 1 < words.last && at->is_name(); ++at) {
    const bool is_last = !at[1].is_name() && !at[1].is("*");
    if (is_last) break;
    if (at->is("static") || at->is("constexpr")) return true;  // of no object
    if (!at->is("const") && !at->is("volatile") && at->text.find("restrict") == std::string::npos) {
      type += (type.empty() ? "" : " ") + at->text;
    }
  }
  if (type.empty()) return false;
  for (const TokenRange& part : split_at_commas({at, words.last})) {
    SourceField field{"", type};
    for (const Token* token = part.first; token != part.last; ++token) {
      if (token->is("*")) {
        field.is_pointer = true;
      } else if (token->is_name()) {
        if (token->text.find("restrict") == std::string::npos) field.name = token->text;
      } else if (token->is("[") && token[1].kind == Token::Kind::kNumber) {
        field.count *= std::strtoll(token[1].text.c_str(), nullptr, 0);
        token += 2;
      } else {
        return false;
      }
    }
    if (field.name.empty()) return false;
    fields.push_back(field);
  }
  return true;
}

}  // namespace

std::vector<SourceField> fields_of(const HostSource& source, const std::string& name) {
  const TokenRange all = source.all();
  const Token* open = body_of(all, name);
  if (open == nullptr) return {};
  const Token* last = skip_group(open, all.last) - 1;
  std::vector<SourceField> fields;
  const Token* begin = open + 1;
  for (const Token* token = begin; token < last;) {
    if (token->is("public") || token->is("private")) {
      begin = token += 2;
    } else if (token->is("(")) {  // a function: up to the end of its body or declaration
      while (token < last && !token->is("{") && !token->is(";")) {
        token = token->is("(") ? skip_group(token, last) : token + 1;
      }
      token = token < last && token->is("{") ? skip_group(token, last) : token + 1;
      begin = token;
    } else if (token->is(";")) {
      if (begin != token && !add_fields({begin, token}, fields)) return {};
      begin = ++token;
    } else if (token->is("{") || token->is("union") || token->is("struct")) {
      return {};
    } else {
      ++token;
    }
  }
  return fields;
}

}  // namespace tessera::checking
