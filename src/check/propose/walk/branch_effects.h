// The effects of a branch that may or may not be taken.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "check/words/tokens.h"

namespace tessera::checking {

// The place after the statement that begins here.
const Token* end_of_statement(const Token* at, const Token* last);

// Whether it ends the program: one of its statements throws, exits, aborts or asserts what is
// false. Code after that, such as a "return 1;" for the compiler, never runs.
bool gives_up(TokenRange statement);

// Whether it may leave the statements around it: by return, break, continue or goto.
bool may_leave(TokenRange statement);

// Variables that the statement may change, without its own. A function that `may_set` its arguments
// may change all of them.
std::set<std::string> may_change(TokenRange statement,
                                 const std::function<bool(const std::string&)>& may_set);

}  // namespace tessera::checking
