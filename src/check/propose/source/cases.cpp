#include "check/propose/source/cases.h"

#include <algorithm>

namespace tessera::checking {
namespace {

bool begins_group(const Token& token) { return token.is("(") || token.is("[") || token.is("{"); }
bool ends_group(const Token& token) { return token.is(")") || token.is("]") || token.is("}"); }

// Returns the opening sign of the innermost group around `place`; null if there is none.
const Token* group_around(const Token* place, const Token* first) {
  int depth = 0;
  while (place != first) {
    --place;
    if (ends_group(*place)) ++depth;
    if (begins_group(*place) && depth-- == 0) return place;
  }
  return nullptr;
}

// Returns the last label before `place` in the switch at `open`: "case 64" or "default".
std::string label_before(const Token* open, const Token* place) {
  std::string label;
  for (const Token* token = open + 1; token < place; ++token) {
    if (begins_group(*token)) {
      token = std::min(skip_group(token, place), place) - 1;
    } else if (token->is("default")) {
      label = "default";
    } else if (token->is("case")) {
      const Token* colon = std::find_if(token, place, [](const Token& one) { return one.is(":"); });
      label = text_of({token, colon});
    }
  }
  return label;
}

}  // namespace

std::vector<std::string> cases_around(const HostSource& source, const Token* place) {
  std::vector<std::string> cases;
  const Token* const first = source.all().first;
  if (place < first || place >= source.all().last) return cases;  // from macros
  for (const Token* open = place; (open = group_around(open, first)) != nullptr;) {
    if (!open->is("{") || open == first || !open[-1].is(")")) continue;
    const Token* condition = group_open(open - 1, first);
    if (condition == first || !condition[-1].is("switch")) continue;
    const std::string label = label_before(open, place);
    if (label.empty()) continue;
    cases.insert(cases.begin(), label + " of switch " + text_of({condition, open}));
  }
  return cases;
}

std::vector<TokenRange> conditions_around(const HostSource& source, const Token* place) {
  std::vector<TokenRange> conditions;
  const Token* const first = source.all().first;
  if (place < first || place >= source.all().last) return conditions;
  const auto see = [&](const Token* begin) {  // begin of the statement, or of the group around it
    if (begin == first) return;
    if (begin[-1].is("else")) conditions.emplace_back();
    if (!begin[-1].is(")")) return;
    const Token* open = group_open(begin - 1, first);
    if (open == first) return;
    const Token* word = open - 1;
    if (word->is("constexpr") && word != first) --word;
    if (word->is("if")) conditions.push_back({open + 1, begin - 1});
  };
  see(place);
  for (const Token* open = place; (open = group_around(open, first)) != nullptr;) {
    if (open->is("{")) see(open);
  }
  return conditions;
}

}  // namespace tessera::checking
