#include "check/propose/walk/statement_walk.h"

#include <algorithm>

#include "check/propose/expression.h"
#include "check/propose/walk/branch_effects.h"

namespace tessera::checking {
namespace {

constexpr int kMostStatements = 4000;  // statements after which a loop counts as endless

bool is_end(const Token& token) { return token.is(";"); }

}  // namespace

bool is_one_of(const Token& token, std::initializer_list<const char*> words) {
  return std::any_of(words.begin(), words.end(), [&](const char* one) { return token.is(one); });
}

bool StatementWalk::comes_to_its_end(TokenRange body) {
  const Flow flow = block({body.first + 1, body.last - 1});
  return flow == Flow::kNext || flow == Flow::kReturn;
}

StatementWalk::Flow StatementWalk::block(TokenRange words) {
  for (const Token* at = words.first; at < words.last;) {
    const Token* end = end_of_statement(at, words.last);
    const Flow flow = statement({at, end});
    if (flow != Flow::kNext) return flow;
    at = end;
  }
  return Flow::kNext;
}

StatementWalk::Flow StatementWalk::statement(TokenRange words) {
  if (++statements_ > kMostStatements) return Flow::kLost;
  const Token* first = words.first;
  if (words.last[-1].is(";") && !is_one_of(*first, {"if", "for", "while", "do", "switch"})) {
    --words.last;
  }
  if (words.empty()) return Flow::kNext;
  if (first->is("{")) return block({first + 1, words.last - 1});
  if (first->is("if")) return branch(words);
  if (first->is("for") || first->is("while") || first->is("do")) return loop(words);
  if (first->is("switch")) return choose(words);
  if (first->is("break")) return Flow::kBreak;
  if (first->is("continue")) return Flow::kContinue;
  if (first->is("throw") || first->is("goto")) return Flow::kLost;
  if (first->is("return")) {
    returns({first + 1, words.last});
    return Flow::kReturn;
  }
  simple(words);
  return Flow::kNext;
}

StatementWalk::Flow StatementWalk::branch(TokenRange words) {
  const Token* open = words.first + 1;
  if (open->is("constexpr")) ++open;
  const Token* then = skip_group(open, words.last);
  if (then >= words.last) return Flow::kLost;
  const Token* end = end_of_statement(then, words.last);
  const bool has_else = end < words.last && end->is("else");
  const auto condition = value({open + 1, then - 1});
  // WHY: a check with an unknown outcome counts as passed if a failed check ends the program.
  if (!condition && gives_up({then, end})) {
    return has_else ? statement({end + 1, words.last}) : Flow::kNext;
  }
  if (!condition) {
    if (may_leave({then, words.last})) return Flow::kLost;
    forget(may_change({then, words.last}, [&](const auto& name) { return may_set(name); }));
    return Flow::kNext;
  }
  if (condition->number() != 0) return statement({then, end});
  return has_else ? statement({end + 1, words.last}) : Flow::kNext;
}

StatementWalk::Flow StatementWalk::loop(TokenRange words) {
  const Token* first = words.first;
  TokenRange condition, step, body;
  if (first->is("do")) {
    const Token* end = end_of_statement(first + 1, words.last);
    body = {first + 1, end};
    if (words.last - end < 4) return Flow::kLost;
    condition = {end + 2, words.last - 2};
  } else {
    const Token* close = skip_group(first + 1, words.last);
    if (close >= words.last) return Flow::kLost;
    condition = {first + 2, close - 1};
    body = {close, words.last};
    if (first->is("for")) {
      const Token* one = std::find_if(condition.first, condition.last, is_end);
      const Token* two =
          one == condition.last ? one : std::find_if(one + 1, condition.last, is_end);
      if (two == condition.last) return Flow::kLost;  // over a range
      if (condition.first != one) simple({condition.first, one});
      step = {two + 1, condition.last};
      condition = {one + 1, two};
    }
  }
  for (bool is_first = first->is("do");; is_first = false) {
    const auto holds = is_first || condition.empty() ? whole_value(1) : value(condition);
    if (!holds) return Flow::kLost;
    if (holds->number() == 0) return Flow::kNext;
    const Flow flow = statement(body);
    if (flow == Flow::kBreak) return Flow::kNext;
    if (flow == Flow::kReturn || flow == Flow::kLost) return flow;
    if (!step.empty()) simple(step);
    if (++statements_ > kMostStatements) return Flow::kLost;
  }
}
StatementWalk::Flow StatementWalk::choose(TokenRange words) {
  const Token* open = skip_group(words.first + 1, words.last);
  if (open >= words.last || !open->is("{")) return Flow::kLost;
  const auto wanted = value({words.first + 2, open - 1});
  if (!wanted) return Flow::kLost;
  const Token *begin = nullptr, *otherwise = nullptr;
  const Token* last = words.last - 1;
  for (const Token* token = open + 1; token < last && begin == nullptr; ++token) {
    if (token->is("{") || token->is("(")) token = skip_group(token, last) - 1;
    const Token* colon = std::find_if(token, last, [](const Token& one) { return one.is(":"); });
    if (token->is("default")) otherwise = colon + 1;
    if (!token->is("case")) continue;
    const auto label = value({token + 1, colon});
    if (label && label->number() == wanted->number()) begin = colon + 1;
  }
  if (begin == nullptr) begin = otherwise;
  while (begin != nullptr && begin < last) {
    if (begin->is("case") || begin->is("default")) {
      begin = std::find_if(begin, last, [](const Token& one) { return one.is(":"); }) + 1;
      continue;
    }
    const Token* end = end_of_statement(begin, last);
    const Flow flow = statement({begin, end});
    if (flow == Flow::kBreak) return Flow::kNext;
    if (flow != Flow::kNext) return flow;
    begin = end;
  }
  return Flow::kNext;
}

}  // namespace tessera::checking
