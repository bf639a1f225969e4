// Finds the effects of a branch that may or may not be taken.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "check/words/tokens.h"

namespace tessera::checking {

// Returns the token after the statement that begins at `at`.
const Token* end_of_statement(const Token* at, const Token* last);

// Whether the statement ends the program: it throws, exits, aborts or asserts something false.
// Statements after it, such as a "return 1;" for the compiler, never run.
bool gives_up(TokenRange statement);

// Whether the statement may leave the statements around it: by return, break, continue or goto.
bool may_leave(TokenRange statement);

// Returns the variables that the statement may change, without those that it declares. A function
// for which `may_set` is true may change all of its arguments.
std::set<std::string> may_change(TokenRange statement,
                                 const std::function<bool(const std::string&)>& may_set);

}  // namespace tessera::checking
