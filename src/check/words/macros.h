// Launches and kernels that a source writes by macros: uses of such macros are replaced by their
// expansions. Other macros stay words; their values are looked up one by one.
#pragma once

#include "check/words/tokens.h"

namespace tessera::checking {

// A macro that does not end, takes other arguments than its use gives, or whose use is not closed
// stays as it is written, and so does a macro with too much text.
void expand_launches(SourceWords& words);

}  // namespace tessera::checking
