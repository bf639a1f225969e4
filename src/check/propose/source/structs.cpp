#include "check/propose/source/structs.h"

#include <cstdlib>

namespace tessera::checking {
namespace {

// Returns the "{" of "struct NAME {" or of "typedef struct {...} NAME"; null if there is none.
const Token* body_of(const HostSource& source, const std::string& name) {
  const TokenRange all = source.all();
  std::vector<const Token*> heads;
  for (const char* word : {"struct", "class"}) {
    const auto places = source.places_of(word, all);
    heads.insert(heads.end(), places.begin(), places.end());
  }
  for (const Token* token : heads) {
    if (token + 2 >= all.last) continue;
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

// Returns the extent of an array, given as a number or a macro of one number; 0 for other words.
std::int64_t extent_of(const HostSource& source, const Token& word) {
  if (word.kind == Token::Kind::kNumber) return std::strtoll(word.text.c_str(), nullptr, 0);
  const auto macro = source.source().macros.find(word.text);
  if (macro == source.source().macros.end() || macro->second.body.size() != 1) return 0;
  const Token& body = macro->second.body[0];
  return body.kind == Token::Kind::kNumber ? std::strtoll(body.text.c_str(), nullptr, 0) : 0;
}

// Reads "const float *a, *b" without its ";". Returns false if it is not a plain declaration.
bool add_fields(const HostSource& source, TokenRange words, std::vector<SourceField>& fields) {
  std::string type;
  const Token* at = words.first;
  for (; at + 1 < words.last && at->is_name(); ++at) {
    if (at[1].is("::")) at += 2;
    if (at + 1 >= words.last) return false;
    const bool is_last = !at[1].is_name() && !at[1].is("*");
    if (is_last) break;
    if (at->is("static") || at->is("constexpr")) return true;  // not a member of objects
    if (!at->is("const") && !at->is("volatile") && at->text.find("restrict") == std::string::npos) {
      type += (type.empty() ? "" : " ") + at->text;
    }
  }
  if (type.empty()) return false;
  for (const TokenRange& part : split_at_commas({at, words.last})) {
    SourceField field{"", type};
    for (const Token* token = part.first; token != part.last; ++token) {
      if (token->is("=") || (token->is("{") && !field.name.empty())) {
        field.initial = {token + (token->is("=") ? 1 : 0), part.last};
        break;
      }
      if (token->is("*")) {
        field.is_pointer = true;
      } else if (token->is_name()) {
        if (token->text.find("restrict") == std::string::npos) field.name = token->text;
      } else if (token->is("[") && token + 2 < part.last && extent_of(source, token[1]) > 0) {
        field.count *= extent_of(source, token[1]);
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
  if (name.empty()) return {};
  const TokenRange all = source.all();
  const Token* open = body_of(source, name);
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
      if (begin != token && !add_fields(source, {begin, token}, fields)) return {};
      begin = ++token;
    } else if (token->is("=")) {  // an initial value
      while (token < last && !token->is(";")) {
        token = token->is("(") || token->is("{") ? skip_group(token, last) : token + 1;
      }
    } else if (token->is("{") && token - begin > 1 && token[-1].is_name() && !begin->is("struct") &&
               !begin->is("union") && !begin->is("enum")) {
      token = skip_group(token, last);
    } else if (token->is("{") || token->is("union") || token->is("struct")) {
      return {};
    } else {
      ++token;
    }
  }
  return fields;
}

}  // namespace tessera::checking
