#include "check/propose/source/assigned.h"

#include <algorithm>
#include <set>

namespace tessera::checking {
namespace {

// Whether the group that ends at `close` is a cast, "(T)", and not "(x)": an operand follows a
// cast.
bool is_cast(TokenRange words, const Token* close) {
  if (close == words.last) return false;
  if (close->is_name() || close->is("(")) return true;
  const bool is_type = close[-2].is("*") || close[-2].is("&") || words.first[1].is("const");
  return is_type && (close->is("&") || close->is("*"));
}

bool begins_member(const Token* token, const Token* first) {
  return token != first && (token[-1].is(".") || token[-1].is("->"));
}

// Returns the "{" of the list "{...}", "T{...}" or "T<N>{...}"; null for other words.
const Token* list_open(TokenRange words) {
  const Token* token = words.first;
  while (token != words.last && (token->is_name() || token->is("::"))) ++token;
  if (token != words.first && token != words.last && token->is("<")) {
    token = skip_angles(token, words.last);
  }
  const bool is_list =
      token != words.last && token->is("{") && skip_group(token, words.last) == words.last;
  return is_list ? token : nullptr;
}

// Returns the words of the value that the variable gets here: its initial value, or a value that is
// assigned to the whole variable.
TokenRange given_to(const Token* name, TokenRange text) {
  const Token* next = name + 1;
  if (next >= text.last || begins_member(name, text.first)) return {};
  if (next->is("=")) return up_to_end(next + 1, text.last);
  const bool is_declared = name != text.first && (name[-1].is_name() || name[-1].is(">"));
  if (next->is("{") && is_declared && !name[-1].is("return")) {
    return {next, skip_group(next, text.last)};
  }
  return {};
}

// Returns the token after the path "a.b.c" that begins here; null if another text begins here.
const Token* behind_path(const Token* token, TokenRange text,
                         const std::vector<std::string>& path) {
  const auto length = static_cast<std::ptrdiff_t>(2 * path.size());
  if (text.last - token < length || begins_member(token, text.first)) return nullptr;
  for (std::size_t k = 1; k < path.size(); ++k) {
    const Token& sign = token[2 * k - 1];
    if (!(sign.is(".") || sign.is("->")) || token[2 * k].text != path[k]) return nullptr;
  }
  return token + length - 1;
}

}  // namespace

TokenRange without_casts(TokenRange words) {
  while (!words.empty()) {
    const Token* first = words.first;
    if (first->is("&") || first->is("*")) {
      ++words.first;
    } else if (first->is("(")) {
      const Token* close = skip_group(first, words.last);
      if (close == words.last) {
        words = {first + 1, close - 1};
      } else if (is_cast(words, close)) {
        words.first = close;
      } else {
        return words;
      }
    } else {
      const Token* name = first;
      if (name->is("std") && name + 2 < words.last && name[1].is("::")) name += 2;
      const bool passes = name->text.ends_with("_cast") || name->is("forward") ||
                          name->is("move") || name->is("addressof") || name->is("ref");
      const Token* open = name + 1;
      if (passes && open < words.last && open->is("<")) open = skip_angles(open, words.last);
      if (!passes || open >= words.last || !open->is("(") ||
          skip_group(open, words.last) != words.last) {
        return words;
      }
      words = {open + 1, words.last - 1};
    }
  }
  return words;
}

TokenRange assigned_last(const HostSource& source, TokenRange text,
                         const std::vector<std::string>& path) {
  const auto places = source.places_of(path[0], text);
  for (std::size_t i = places.size(); i-- != 0;) {
    const Token* sign = behind_path(places[i], text, path);
    if (sign == nullptr || !sign->is("=") || sign + 1 == text.last) continue;
    return up_to_end(sign + 1, text.last);
  }
  return {};
}

bool is_changed_after(const HostSource& source, const Token* place, TokenRange text,
                      const std::vector<std::string>& path) {
  static const std::set<std::string> kSigns = {"+=", "-=", "*=", "/=", "<<=", ">>=", "++", "--"};
  for (const Token* token : source.places_of(path[0], {place, text.last})) {
    const Token* sign = behind_path(token, text, path);
    if (sign == nullptr) continue;
    if (kSigns.count(sign->text) != 0) return true;
    if (token != text.first && (token[-1].is("++") || token[-1].is("--"))) return true;
    const bool is_long = sign->is("%") || sign->is("&") || sign->is("|") || sign->is("^");
    if (is_long && sign + 1 != text.last && sign[1].is("=")) return true;
  }
  return false;
}

std::optional<TokenRange> listed_field(TokenRange list, const std::string& field,
                                       const FieldOrder& order) {
  const Token* open = list_open(list);
  if (open == nullptr) return std::nullopt;
  const auto parts = split_at_commas({open + 1, list.last - 1});
  const bool is_designated = !parts.empty() && !parts[0].empty() && parts[0].first->is(".");
  if (is_designated) {
    for (const TokenRange& part : parts) {
      if (part.size() < 3 || part.first[1].text != field) continue;
      return TokenRange{part.first + (part.first[2].is("=") ? 3 : 2), part.last};
    }
    return std::nullopt;
  }
  const auto found = std::find(order.begin(), order.end(), field);
  const auto index = static_cast<std::size_t>(found - order.begin());
  if (found == order.end() || index >= parts.size() || parts[index].empty()) return std::nullopt;
  return parts[index];
}

TokenRange whole_words(const HostSource& source, TokenRange text, const std::string& variable) {
  const auto places = source.places_of(variable, text);
  for (std::size_t i = places.size(); i-- != 0;) {
    const TokenRange given = given_to(places[i], text);
    if (!given.empty()) return given;
  }
  return {};
}

std::optional<TokenRange> field_words(const HostSource& source, TokenRange text,
                                      const std::string& variable, const std::string& field,
                                      const FieldOrder& order) {
  const TokenRange assigned = assigned_last(source, text, {variable, field});
  const TokenRange whole = whole_words(source, text, variable);
  if (!assigned.empty() && (whole.empty() || assigned.first > whole.first)) return assigned;
  return listed_field(whole, field, order);
}

}  // namespace tessera::checking
