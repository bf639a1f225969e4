#include "check/propose/walk/branch_effects.h"

#include <algorithm>

#include "check/propose/walk/statement_walk.h"

namespace tessera::checking {
namespace {

bool is_text(const Token& token) { return token.kind == Token::Kind::kText; }

bool is_step(const Token& token) { return is_one_of(token, {"++", "--"}); }

bool is_assignment(const Token& token) {
  return is_one_of(token, {"=", "+=", "-=", "*=", "/=", "<<=", ">>="});
}

// Returns the variable in "x", "x.y", "x[i]", "this->x" or "*x" that ends at `end`; null if there
// is none.
const Token* variable_before(const Token* end, const Token* first) {
  const Token* variable = nullptr;
  for (const Token* at = end; at != first;) {
    --at;
    if (at->is("]")) {
      at = group_open(at, first);
    } else if (at->is_name()) {
      if (!at->is("this")) variable = at;
      if (at == first || !is_one_of(at[-1], {".", "->"})) break;
      --at;
    } else if (!is_one_of(*at, {"%", "&", "|", "^"}) || variable != nullptr) {
      break;  // "%=" and its like are two signs
    }
  }
  return variable;
}

// Whether the name is declared here, after a type: "int n = 4", "auto& x : list", "float* p(q)".
bool is_declared(const Token* name, const Token* first) {
  const Token* before = name;
  while (before != first && is_one_of(before[-1], {"&", "*", "const"})) --before;
  if (before == first) return false;
  return before[-1].is_name() && !is_one_of(before[-1], {"return", "else", "do"});
}

}  // namespace

const Token* end_of_statement(const Token* at, const Token* last) {
  if (at == last) return last;
  if (at->is("{")) return skip_group(at, last);
  if (is_one_of(*at, {"if", "for", "while", "switch"})) {
    const Token* open = at + 1;
    if (open != last && open->is("constexpr")) ++open;
    const Token* end = open == last ? last : end_of_statement(skip_group(open, last), last);
    const bool has_else = at->is("if") && end != last && end->is("else");
    return has_else ? end_of_statement(end + 1, last) : end;
  }
  if (at->is("do")) at = end_of_statement(at + 1, last);
  while (at != last && !at->is(";"))
    at = is_one_of(*at, {"(", "[", "{"}) ? skip_group(at, last) : at + 1;
  return at == last ? last : at + 1;
}

bool gives_up(TokenRange statement) {
  if (statement.empty()) return false;
  const Token* at = statement.first;
  if (at->is("do")) return gives_up({at + 1, end_of_statement(at + 1, statement.last)});
  if (at->is("{")) {
    const Token* const last = statement.last - 1;
    for (++at; at < last;) {
      const Token* const end = end_of_statement(at, last);
      if (gives_up({at, end})) return true;
      at = end;
    }
    return false;
  }
  while (statement.last - at > 1 && (at->is("std") || at->is("::"))) ++at;
  const bool is_never = statement.last - at > 3 && at->is("assert") &&
                        (is_one_of(at[2], {"false", "0"}) || (at[2].is("!") && is_text(at[3])));
  return is_never ||
         is_one_of(*at, {"throw", "exit", "abort", "terminate", "_Exit", "_exit", "quick_exit"});
}

bool may_leave(TokenRange statement) {
  return std::any_of(statement.first, statement.last, [](const Token& token) {
    return is_one_of(token, {"return", "break", "continue", "goto"});
  });
}

std::set<std::string> may_change(TokenRange statement,
                                 const std::function<bool(const std::string&)>& may_set) {
  std::set<std::string> names, own;
  const auto add = [&](const Token* name) {
    if (name == nullptr || own.count(name->text) != 0) return;
    const bool is_own = is_declared(name, statement.first);
    (is_own ? own : names).insert(name->text);
  };
  for (const Token* token = statement.first; token != statement.last; ++token) {
    if (is_assignment(*token)) add(variable_before(token, statement.first));
    if (is_step(*token)) {
      const Token* before = variable_before(token, statement.first);
      const bool is_prefix = before == nullptr && token + 1 != statement.last;
      add(is_prefix && token[1].is_name() ? token + 1 : before);
    }
    const bool is_operand = token + 1 != statement.last && token[1].is_name();
    const bool reads = is_operand && token != statement.first &&  // "std::cin >> n"
                       (token->is(">>") || (token->is(">") && token[-1].is(">")));
    const bool by_address = token->is("&") && is_operand && token != statement.first &&
                            is_one_of(token[-1], {"(", ","});
    if (reads || by_address) add(token + 1);
    const bool is_call = token->is_name() && token + 1 != statement.last && token[1].is("(");
    if (!is_call) continue;
    if (token != statement.first && is_one_of(token[-1], {".", "->"})) {
      add(variable_before(token - 1, statement.first));
    }
    if (!may_set(token->text)) continue;
    const Token* end = skip_group(token + 1, statement.last);
    for (const TokenRange& one : split_at_commas({token + 2, end - 1})) {
      if (one.size() == 1 && one.first->is_name()) add(one.first);
    }
  }
  return names;
}

}  // namespace tessera::checking
