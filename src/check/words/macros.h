// Expands macros by which a source writes launches and kernels. Other macros are not expanded;
// their values are looked up one by one.
#pragma once

#include "check/words/tokens.h"

namespace tessera::checking {

// A macro use stays as it is written if the expansion does not end or is too long, if the number of
// arguments is wrong, or if the use is not closed.
void expand_launches(SourceWords& words);

}  // namespace tessera::checking
